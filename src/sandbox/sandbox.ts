import { setTimeout as sleep } from 'node:timers/promises';
import { decodeFollowUpCall } from '../wire/follow-up-calls.ts';
import { decodeWsdlRequest, encodeWsdl } from '../wire/soap-wsdl.ts';
import type { EncodedAnswer, ReceivedRequest } from '../wire/wire-interface.ts';
import { openClock } from './clock.ts';
import { openDeliveryReportSender } from './delivery-report-sender.ts';
import { answerFollowUpCall, type FollowUpService } from './follow-up-calls.ts';
import { startHttpServer } from './http-server.ts';
import { journalLine, openJournal } from './journal.ts';
import { openMessages } from './messages.ts';
import { type SandboxOptions, sandboxSettings } from './options.ts';
import { type Receipt, receive } from './receive-request.ts';

/** The service as interface.md describes it, on this machine. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** @throws InputError for options out of bounds, a port in use, and a journal that cannot be written */
export async function startSandbox(options: SandboxOptions = {}) {
  const settings = sandboxSettings(options);
  const journal = await openJournal(settings.journal);
  const clock = openClock(settings.now, settings.clockSpeed);
  const sender = openDeliveryReportSender(settings, clock, settings.webhookRetry);
  const messages = openMessages(settings, clock, sender.schedule);
  const received = new Map<string, number>();
  const service = { settings, timesReceived: (messageId: string) => received.get(messageId) ?? 0 };
  const followUpService = { settings, messages, now: clock.now };
  const closing = new AbortController();

  const delayAnswer = async (answer: EncodedAnswer): Promise<EncodedAnswer> => {
    await sleep(settings.latency, undefined, { signal: closing.signal }).catch(() => {});
    return answer;
  };

  /** Answers only after the journal is written and the deliveries are scheduled. */
  const answerSend = async (receipt: Receipt): Promise<EncodedAnswer> => {
    const messageId = receipt.acceptedAs?.messageId ?? receipt.request?.messageId;
    const before = messageId === undefined ? 0 : service.timesReceived(messageId);
    if (messageId !== undefined) received.set(messageId, before + 1);
    await journal.write(journalLine(receipt, clock.now(), before > 0));
    messages.add(receipt);
    return delayAnswer(receipt.answer);
  };

  const answers = {
    answer: (request: ReceivedRequest) => {
      const answer = answerFollowUp(request, followUpService);
      return answer ? delayAnswer(answer) : answerSend(receive(request, service));
    },
    refuse: answerSend,
  };
  const server = await startHttpServer(settings, answers).catch(async (error: unknown) => {
    clock.close();
    await Promise.all([sender.close(), journal.close()]);
    throw error;
  });
  return {
    /** Without a trailing slash: an account's `baseUrl`, for every interface. */
    url: server.url,
    port: server.port,
    /** Delivery reports that the webhook has not acknowledged yet. */
    outstandingDeliveryReports: sender.outstanding,
    async close(): Promise<void> {
      closing.abort();
      clock.close();
      await server.close();
      await sender.close();
      await journal.close();
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
