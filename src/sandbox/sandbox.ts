import { setTimeout as sleep } from 'node:timers/promises';
import { decodeFollowUpCall } from '../wire/follow-up-calls.ts';
import { decodeWsdlRequest, encodeWsdl } from '../wire/soap-wsdl.ts';
import type { EncodedAnswer, ReceivedRequest } from '../wire/wire-interface.ts';
import { openClock } from './clock.ts';
import { createDeliveries } from './deliveries.ts';
import { openDeliveryReportSender } from './delivery-report-sender.ts';
import { answerFollowUpCall, type FollowUpService } from './follow-up-calls.ts';
import { startHttpServer } from './http-server.ts';
import { journalLine, openJournal } from './journal.ts';
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from './options.ts';
import { type Receipt, receive, type SandboxService } from './receive-request.ts';
import { createJobNumber, seededRandom } from './seeded-values.ts';

/** The service as interface.md describes it, on this machine. */
export type Sandbox = {
  /** Without a trailing slash: an account's `baseUrl`, for every interface. */
  readonly url: string;
  readonly port: number;
  /** Delivery reports that the webhook has not acknowledged yet. */
  readonly outstandingDeliveryReports: () => number;
  readonly close: () => Promise<void>;
};

/** @throws InputError for options out of bounds, a port in use, and a journal that cannot be written */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = sandboxSettings(options);
  const journal = await openJournal(settings.journal);
  const clock = openClock(settings.now, settings.clockSpeed);
  const sender = openDeliveryReportSender(settings, clock, settings.webhookRetry);
  const deliveries = createDeliveries(settings, clock, sender);
  const messageIds = createMessageIdCounter();
  const service = createService(settings, messageIds);
  const { messages, replace } = deliveries;
  const followUpService = { ...settings, token: settings.token, messages, now: clock.now, replace };
  const closing = new AbortController();

  const delayAnswer = async (answer: EncodedAnswer): Promise<EncodedAnswer> => {
    await sleep(settings.latency, undefined, { signal: closing.signal }).catch(() => {});
    return answer;
  };

  /** Answers only after the journal is written and the deliveries are scheduled. */
  const answerSend = async (receipt: Receipt): Promise<EncodedAnswer> => {
    const repeated = messageIds.add(receipt.acceptedAs?.messageId ?? receipt.request?.messageId);
    await journal.write(journalLine(receipt, clock.now(), repeated));
    deliveries.add(receipt);
    return delayAnswer(receipt.answer);
  };

  const answers = {
    answer: (received: ReceivedRequest) => {
      const answer = answerFollowUp(received, followUpService);
      return answer ? delayAnswer(answer) : answerSend(receive(received, service));
    },
    refuse: answerSend,
  };
  const server = await startHttpServer(settings, answers).catch(async (error: unknown) => {
    clock.close();
    await Promise.all([sender.close(), journal.close()]);
    throw error;
  });
  return {
    url: server.url,
    port: server.port,
    outstandingDeliveryReports: sender.outstanding,
    async close() {
      closing.abort();
      clock.close();
      await server.close();
      await sender.close();
      await journal.close();
    },
  };
}

function createService(settings: SandboxSettings, messageIds: MessageIdCounter): SandboxService {
  return {
    token: settings.token,
    lenient: settings.lenient,
    newMessageId: settings.newMessageId,
    jobNumberFor: (messageId) => createJobNumber('job', settings.seed, messageId),
    // Depends on the number of the attempt, because a request must not fail for ever.
    failsNow: (messageId) =>
      seededRandom('fault', settings.seed, messageId, messageIds.count(messageId)) < settings.failRate,
  };
}

type MessageIdCounter = {
  readonly count: (messageId: string) => number;
  /** @returns whether the MessageID was received before */
  readonly add: (messageId: string | undefined) => boolean;
};

function createMessageIdCounter(): MessageIdCounter {
  const counts = new Map<string, number>();
  const count = (messageId: string): number => counts.get(messageId) ?? 0;
  return {
    count,
    add(messageId) {
      if (messageId === undefined) return false;
      const before = count(messageId);
      counts.set(messageId, before + 1);
      return before > 0;
    },
  };
}

/** Answers calls that bring no message. They are not in the journal. */
function answerFollowUp(received: ReceivedRequest, service: FollowUpService): EncodedAnswer | undefined {
  const wsdl = decodeWsdlRequest(received);
  if (wsdl) return encodeWsdl(wsdl.address);
  const call = decodeFollowUpCall(received);
  return call && answerFollowUpCall(call, service);
}
