import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { encodeSendAnswer } from '../../src/wire/encode-send-answer.ts';
import { decodeSendRequest } from '../../src/wire/interfaces.ts';
import type { EncodedAnswer } from '../../src/wire/wire-interface.ts';
import { type AcceptedRecipient, createReporter, type ReportFigures } from './delivery-reporter.ts';
import { listening } from './listening.ts';

type Figures = { requests: number; refused: number; cut: number } & ReportFigures;

export type ReportingService = AsyncDisposable & {
  readonly url: string;
  /** Acceptances by MessageID. */
  readonly accepted: ReadonlyMap<string, number>;
  /** By MessageID and address. */
  readonly recipients: ReadonlyMap<string, AcceptedRecipient>;
  readonly figures: Figures;
  /** Resolves when every delivery report has been answered with 2xx. */
  readonly reported: () => Promise<void>;
};

export const recipientKey = (messageId: string, address: string): string => `${messageId} ${address}`;

/**
 * A service that accepts a MessageID as often as it arrives. It answers slowly, asks for retries, rejects, and
 * cuts connections after accepting. It reports one outcome per recipient: a fifth of them twice, some as
 * Pending first, in four formats, to any receiver that answers 2xx.
 *
 * @param receivers webhook URLs with token
 */
export async function startReportingService(receivers: readonly string[]): Promise<ReportingService> {
  const accepted = new Map<string, number>();
  const recipients = new Map<string, AcceptedRecipient>();
  const figures: Figures = { requests: 0, refused: 0, cut: 0, reports: 0, reportsTried: 0 };
  const reporter = createReporter(receivers, figures);

  function accept(messageId: string, chargeCode: string, addresses: readonly string[]): void {
    accepted.set(messageId, (accepted.get(messageId) ?? 0) + 1);
    for (const address of addresses) {
      const draw = seededRandom('outcome', messageId, address);
      const outcome = draw < 0.1 ? 'undelivered' : 'delivered';
      const recipient = { chargeCode, outcome, price: `0.0${Math.floor(draw * 90) + 10}` } as const;
      recipients.set(recipientKey(messageId, address), recipient);
      const copies = [0, ...(draw < 0.2 ? [1] : []), ...(draw > 0.9 ? [2] : [])];
      for (const copy of copies) reporter.report({ messageId, address, recipient, copy });
    }
  }

  /** @returns undefined to accept without an answer */
  async function answerOf(request: ReturnType<typeof decodeSendRequest>): Promise<EncodedAnswer | undefined> {
    if (request.kind !== 'request' || request.request.messageId === undefined) {
      return { status: 404, headers: {}, body: '' };
    }
    const { messageId, destinations, fields } = request.request;
    figures.requests++;
    await sleep(seededRandom('latency', figures.requests) * 40);
    if (seededRandom('busy', figures.requests) < 0.03) {
      figures.refused++;
      return { status: 503, headers: { 'Retry-After': '0' }, body: 'not now' };
    }
    if (seededRandom('rejects', messageId) < 0.02) {
      return encodeSendAnswer({ kind: 'refused', words: ['not this one'], messageId }, request.answer);
    }
    accept(
      messageId,
      fields['ChargeCode'] ?? '',
      destinations.map(({ Recipient }) => Recipient),
    );
    await sleep(seededRandom('answer', figures.requests) * 40);
    if (seededRandom('cut', figures.requests) < 0.01) {
      figures.cut++;
      return undefined;
    }
    return encodeSendAnswer({ kind: 'accepted', messageId, jobNumber: 'JOB00001' }, request.answer);
  }

  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    // A sender killed while writing has sent nothing that could be accepted.
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const { method = '', url: path = '', headers } = request;
    const answer = await answerOf(decodeSendRequest({ method, path, query: '', headers, body }));
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    else response.destroy();
  });
  const { port, stop } = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    accepted,
    recipients,
    figures,
    reported: reporter.done,
    async [Symbol.asyncDispose]() {
      stop();
      await reporter.stop();
    },
  };
}
