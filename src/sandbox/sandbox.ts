import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageFields } from '../domain/message.ts';
import { deliveryReportFormats } from '../wire/encode-delivery-report.ts';
import { decodeFollowUpCall } from '../wire/follow-up-calls.ts';
import { decodeWsdlRequest, encodeWsdl } from '../wire/soap-wsdl.ts';
import type { EncodedAnswer, ReceivedRequest } from '../wire/wire-interface.ts';
import { acceptMessage } from './accept-message.ts';
import { openClock } from './clock.ts';
import type { Callback } from './delivery.ts';
import { openDeliveryReportSender } from './delivery-report-sender.ts';
import { answerFollowUpCall, type FollowUpService } from './follow-up-calls.ts';
import { startHttpServer } from './http-server.ts';
import { journalLine, openJournal } from './journal.ts';
import { type KeptMessage, openKeptMessages } from './kept-messages.ts';
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from './options.ts';
import { type Receipt, receive, type SandboxService } from './receive-request.ts';
import { createJobNumber, seededRandom } from './seeded-values.ts';

/** The service itself, as interface.md describes it, on this machine. */
export type Sandbox = {
  /** Without a trailing slash: an account's `baseUrl`, for every interface. */
  readonly url: string;
  readonly port: number;
  /** Delivery reports that the webhook has not taken yet. */
  readonly outstandingDeliveryReports: () => number;
  readonly close: () => Promise<void>;
};

/** @throws InputError for options out of bounds, a port in use and a journal that cannot be written. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = sandboxSettings(options);
  const journal = await openJournal(settings.journal);
  const clock = openClock(settings.now, settings.clockSpeed);
  const reports = openDeliveryReportSender(settings, clock, settings.webhookRetry);
  const messages = openKeptMessages();
  const closing = new AbortController();
  const timesSeen = new Map<string, number>();
  const service: SandboxService = {
    token: settings.token,
    lenient: settings.lenient,
    newMessageId: settings.newMessageId,
    jobNumberFor: (messageId) => createJobNumber('job', settings.seed, messageId),
    // The number of the attempt takes part, or a request that failed once would fail for ever.
    failsNow: (messageId) =>
      seededRandom('fault', settings.seed, messageId, timesSeen.get(messageId) ?? 0) < settings.failRate,
  };

  /** Notes that a MessageID has come, and says whether it had come before. */
  const countMessageId = (messageId: string | undefined): boolean => {
    if (messageId === undefined) return false;
    const times = timesSeen.get(messageId) ?? 0;
    timesSeen.set(messageId, times + 1);
    return times > 0;
  };

  const delayAnswer = async (answer: EncodedAnswer): Promise<EncodedAnswer> => {
    await sleep(settings.latency, undefined, { signal: closing.signal }).catch(() => {});
    return answer;
  };

  /** Writes down, schedules the deliveries and only then answers: what is accepted is delivered to the end. */
  const answerSend = async (receipt: Receipt): Promise<EncodedAnswer> => {
    const repeated = countMessageId(receipt.acceptedAs?.messageId ?? receipt.request?.messageId);
    await journal.write(journalLine(receipt, clock.now(), repeated));
    keepAndScheduleReports(receipt);
    return delayAnswer(receipt.answer);
  };

  const keepAndScheduleReports = ({
    interface: interfaceName,
    version,
    request,
    acceptedAs,
  }: Receipt): void => {
    if (!interfaceName || version === undefined || !request || !acceptedAs) return;
    const message = acceptMessage(request, acceptedAs, {
      interface: interfaceName,
      version,
      acceptedAt: clock.now(),
      delay: settings.latency * clock.speed + settings.deliveryDelay,
      timeZone: settings.timeZone,
      holdsSendTime: settings.holdsSendTime,
    });
    const destinations = request.destinations.filter(({ Recipient }) => Recipient.trim() !== '');
    const callback = callbackOf(request.fields, settings.webhook);
    keep({ message, destinations, ...(callback && { callback }) }, destinations);
  };

  /** @param report those of its recipients that are reported on when it is sent */
  const keep = (kept: Omit<KeptMessage, 'cancelReports'>, report: KeptMessage['destinations']): void => {
    const { message, callback } = kept;
    const delay = message.sentAt.getTime() - clock.now().getTime();
    const cancelReports = callback && reports.schedule({ message, destinations: report, callback }, delay);
    messages.add({ ...kept, cancelReports: cancelReports ?? (() => {}) });
  };

  const jobService: FollowUpService = {
    ...settings,
    token: settings.token,
    messages,
    now: clock.now,
    replace(kept, message, report) {
      kept.cancelReports();
      keep({ ...kept, message }, report);
    },
  };

  /** What is about earlier messages sends nothing, so it is answered without being written down. */
  const answerFollowUp = (received: ReceivedRequest): EncodedAnswer | undefined => {
    const wsdl = decodeWsdlRequest(received);
    if (wsdl) return encodeWsdl(wsdl.address);
    const call = decodeFollowUpCall(received);
    return call && answerFollowUpCall(call, jobService);
  };

  const answers = {
    answer: (received: ReceivedRequest) => {
      const answer = answerFollowUp(received);
      return answer ? delayAnswer(answer) : answerSend(receive(received, service));
    },
    refuse: answerSend,
  };
  const server = await startHttpServer(settings, answers).catch(async (error: unknown) => {
    clock.close();
    await Promise.all([reports.close(), journal.close()]);
    throw error;
  });
  return {
    url: server.url,
    port: server.port,
    outstandingDeliveryReports: reports.outstanding,
    async close() {
      closing.abort();
      clock.close();
      await server.close();
      await reports.close();
      await journal.close();
    },
  };
}

/** The `X-Sender` of calls where no credentials are set. */
const defaultSender = 'sandbox@service.example';

/** A request overrides the sender's default webhook, which must be configured (interface.md, 2.1 and 6). */
function callbackOf(fields: MessageFields, webhook: SandboxSettings['webhook']): Callback | undefined {
  if (!webhook) return undefined;
  const asked = fields['WebhookCallbackFormat']?.trim().toLowerCase();
  return {
    url: fields['WebhookCallbackURL']?.trim() || webhook.url,
    format: deliveryReportFormats.find((format) => format === asked) ?? webhook.format ?? 'json',
    id: webhook.id ?? 'message',
    sender: webhook.credentials?.sender ?? defaultSender,
    ...(webhook.credentials && { credentials: webhook.credentials }),
  };
}
