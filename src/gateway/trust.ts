import type { DecodeSendAnswer, SendAnswer, StatusLookUp } from '../wire/wire-interface.ts';
import type { Trust } from './connections.ts';
import type { Answer } from './evidence.ts';
import { classify } from './verdict.ts';

/**
 * Whether an answer certainly belongs to the request with this MessageID. Without a MessageID it may be a
 * surplus answer to an earlier request, while the service accepts this one. `unnamed_success` is trusted,
 * because its interfaces never name a message; a job number that came before shows a surplus answer.
 */
export function assessTrust(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): Trust {
  const decoded = decode(answer.body);
  if (decoded.kind === 'unnamed_success') return { kind: 'keep', jobNumber: decoded.jobNumber };
  if (namesMessage(decoded, messageId)) return { kind: 'keep' };
  switch (classify(answer, messageId, decode).kind) {
    case 'rejected':
    case 'unauthorized':
    case 'retry':
      return { kind: 'prove', couldBeOurAnswer: (next) => mayAnswerSend(next, messageId, decode) };
    case 'accepted':
    case 'in_doubt':
      return { kind: 'close' };
  }
}

/** After these the service may have accepted the request; 503 says that it did not. */
const unclearStatuses = [500, 502, 504];

/** Whether a later answer may be the real one, and report acceptance. */
function mayAnswerSend(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): boolean {
  const decoded = decode(answer.body);
  // SOAP over HTTP answers 500 to sender faults too.
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

/** Without our MessageID the message stays in doubt, and the connection is not reused. */
export function assessLookUpTrust(messageId: string, { decode }: StatusLookUp): (answer: Answer) => Trust {
  return ({ body }) => {
    const decoded = decode(body);
    const isOurs = 'messageId' in decoded && decoded.messageId === messageId;
    return { kind: isOurs ? 'keep' : 'close' };
  };
}
