import type { DecodeSendAnswer, SendAnswer } from '../wire/wire-interface.ts';
import type { Trust } from './connections.ts';
import type { Answer } from './evidence.ts';
import { classify } from './verdict.ts';

/**
 * Whether an answer shows by itself that it is the answer to the request with this MessageID. One that names no MessageID
 * does not: it may be one answer too many to an earlier request, while the service takes this one. An `unnamed_success` is let pass,
 * because the interfaces that answer so never name a message.
 */
export function assessTrust(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): Trust {
  const decoded = decode(answer.body);
  if (decoded.kind === 'unnamed_success' || namesMessage(decoded, messageId)) return { kind: 'keep' };
  switch (classify(answer, messageId, decode).kind) {
    case 'rejected':
    case 'unauthorized':
    case 'retry':
      return { kind: 'prove', isOtherAnswer: (next) => mayAnswerSend(next, messageId, decode) };
    case 'accepted':
    case 'in_doubt':
      return { kind: 'close' };
  }
}

/** The service's own troubles, after which nobody knows whether it took a request; 503 says that it did not. */
const unclearStatuses = [500, 502, 504];

/** Whether this may be the answer to the request itself, saying that it was taken, though another one came before it. */
function mayAnswerSend(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): boolean {
  const decoded = decode(answer.body);
  // SOAP over HTTP says 500 to a fault of the sender, too.
  if (decoded.kind === 'fault' && decoded.origin !== 'service') return false;
  return (
    unclearStatuses.includes(answer.status) ||
    decoded.kind === 'success' ||
    decoded.kind === 'unnamed_success' ||
    decoded.kind === 'fault' ||
    namesMessage(decoded, messageId)
  );
}

function namesMessage(decoded: SendAnswer, messageId: string | undefined): boolean {
  return messageId !== undefined && 'messageId' in decoded && decoded.messageId === messageId;
}
