import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageFields } from '../domain/message.ts';
import { reportFormats } from '../wire/encode-delivery-report.ts';
import { decodeWsdlRequest, encodeWsdl } from '../wire/soap-wsdl.ts';
import { decodeStatusRequest, encodeStatusAnswer } from '../wire/status.ts';
import type { EncodedAnswer, ReceivedRequest } from '../wire/wire.ts';
import { chance, jobNumber } from './chance.ts';
import { acceptMessage, type Callback } from './delivery.ts';
import { startHttpServer } from './http-server.ts';
import { journalLine, openJournal } from './journal.ts';
import { openKeptMessages } from './kept-messages.ts';
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from './options.ts';
import { type Receipt, receive, type Service } from './receive.ts';
import { openReportSender } from './report-sender.ts';
import { lookUp } from './status.ts';

/** The service itself, as interface.md describes it, on this machine. */
export type Sandbox = {
  /** Without a trailing slash: an account's `baseUrl`, for every interface. */
  readonly url: string;
  readonly port: number;
  /** Delivery reports that the webhook has not taken yet. */
  readonly outstandingReports: () => number;
  /** Stops answering and reporting, and completes the journal. */
  readonly close: () => Promise<void>;
};

/** @throws InputError for options out of bounds, a port in use and a journal that cannot be written. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = sandboxSettings(options);
  const journal = await openJournal(settings.journal);
  const reports = openReportSender(settings, settings.webhookRetry);
  const messages = openKeptMessages();
  const closing = new AbortController();
  const timesSeen = new Map<string, number>();
  const service: Service = {
    token: settings.token,
    newMessageId: settings.newMessageId,
    jobNumberFor: (messageId) => jobNumber('job', settings.seed, messageId),
    // The number of the attempt takes part, or a request that failed once would fail for ever.
    failsNow: (messageId) =>
      chance('fault', settings.seed, messageId, timesSeen.get(messageId) ?? 0) < settings.failRate,
  };
  const { seed, undeliveredRate, token } = settings;
  const statusService = { seed, undeliveredRate, token, messages };

  /** Notes that a MessageID has come, and says whether it had come before. */
  const isRepeated = (messageId: string | undefined): boolean => {
    if (messageId === undefined) return false;
    const times = timesSeen.get(messageId) ?? 0;
    timesSeen.set(messageId, times + 1);
    return times > 0;
  };

  const delayed = async (answer: EncodedAnswer): Promise<EncodedAnswer> => {
    await sleep(settings.latency, undefined, { signal: closing.signal }).catch(() => {});
    return answer;
  };

  /** Writes down, schedules the deliveries and only then answers: what is accepted is delivered to the end. */
  const settle = async (receipt: Receipt): Promise<EncodedAnswer> => {
    const repeated = isRepeated(receipt.acceptedAs?.messageId ?? receipt.request?.messageId);
    await journal.write(journalLine(receipt, settings.now(), repeated));
    keepAndReport(receipt);
    return delayed(receipt.answer);
  };

  const keepAndReport = ({ interface: interfaceName, request, acceptedAs }: Receipt): void => {
    if (!interfaceName || !request || !acceptedAs) return;
    const delay = settings.latency + settings.deliveryDelay;
    const message = acceptMessage(interfaceName, request, acceptedAs, settings.now(), delay);
    const destinations = request.destinations.filter(({ Recipient }) => Recipient.trim() !== '');
    messages.keep({ message, destinations });
    const callback = callbackOf(request.fields, settings.webhook);
    if (callback) reports.schedule({ message, destinations, callback }, delay);
  };

  /** What only asks changes nothing, so it is answered without being written down. */
  const answerQuestion = (received: ReceivedRequest): EncodedAnswer | undefined => {
    const wsdl = decodeWsdlRequest(received);
    if (wsdl) return encodeWsdl(wsdl.address);
    const asked = decodeStatusRequest(received);
    return asked && encodeStatusAnswer(lookUp(asked, statusService, settings.now()), asked.format);
  };

  const answers = {
    answer: (received: ReceivedRequest) => {
      const answer = answerQuestion(received);
      return answer ? delayed(answer) : settle(receive(received, service));
    },
    refuse: settle,
  };
  const server = await startHttpServer(settings, answers).catch(async (error: unknown) => {
    await Promise.all([reports.close(), journal.close()]);
    throw error;
  });
  return {
    url: server.url,
    port: server.port,
    outstandingReports: reports.outstanding,
    async close() {
      closing.abort();
      await server.close();
      await reports.close();
      await journal.close();
    },
  };
}

/** A request overrides the sender's default webhook, which must be configured (interface.md, 2.1 and 6). */
function callbackOf(fields: MessageFields, webhook: SandboxSettings['webhook']): Callback | undefined {
  if (!webhook) return undefined;
  const asked = fields['WebhookCallbackFormat']?.trim().toLowerCase();
  return {
    url: fields['WebhookCallbackURL']?.trim() || webhook.url,
    format: reportFormats.find((format) => format === asked) ?? webhook.format ?? 'json',
    id: webhook.id ?? 'message',
    ...(webhook.credentials && { credentials: webhook.credentials }),
  };
}
