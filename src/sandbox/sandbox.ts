import { setTimeout as sleep } from 'node:timers/promises';
import type { SendRequest } from '../domain.ts';
import type { EncodedSendAnswer, ReceivedRequest } from '../wire/wire.ts';
import { chance, jobNumber } from './chance.ts';
import { contentOf } from './content.ts';
import type { AcceptedMessage } from './delivery.ts';
import { startHttpServer } from './http-server.ts';
import { journalLine, openJournal } from './journal.ts';
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from './options.ts';
import { type Receipt, receive, type Service } from './receive.ts';
import { openReportSender } from './report-sender.ts';

/** The service itself, as interface.md describes it, on this machine. */
export type Sandbox = {
  /** Without a trailing slash: an account's `baseUrl`. */
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
  const closing = new AbortController();
  const timesSeen = new Map<string, number>();
  const service: Service = {
    token: settings.token,
    newMessageId: settings.newMessageId,
    // The number of the attempt takes part, or a request that failed once would fail for ever.
    failsNow: (messageId) =>
      chance('fault', settings.seed, messageId, timesSeen.get(messageId) ?? 0) < settings.failRate,
  };

  /** Notes that a MessageID has come, and says whether it had come before. */
  const isRepeated = (messageId: string | undefined): boolean => {
    if (messageId === undefined) return false;
    const times = timesSeen.get(messageId) ?? 0;
    timesSeen.set(messageId, times + 1);
    return times > 0;
  };

  /** Writes down, schedules the deliveries and only then answers: what is accepted is delivered to the end. */
  const settle = async (receipt: Receipt): Promise<EncodedSendAnswer> => {
    const repeated = isRepeated(receipt.acceptedAs ?? receipt.request?.messageId);
    await journal.write(journalLine(receipt, settings.now(), repeated));
    if (settings.webhook) scheduleReports(receipt, settings.webhook.url);
    await sleep(settings.latency, undefined, { signal: closing.signal }).catch(() => {});
    return receipt.answer;
  };

  const scheduleReports = ({ request, acceptedAs }: Receipt, defaultUrl: string): void => {
    if (!request || acceptedAs === undefined) return;
    const delay = settings.latency + settings.deliveryDelay;
    const recipients = request.destinations.filter(({ Recipient }) => Recipient.trim() !== '');
    reports.schedule(accepted(request, acceptedAs, defaultUrl, settings, delay), recipients, delay);
  };

  const answers = {
    answer: (received: ReceivedRequest) => settle(receive(received, service)),
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

/** A callback URL of the request overrides the sender's default, which must be configured (interface.md, 2.1). */
function accepted(
  request: SendRequest,
  messageId: string,
  defaultUrl: string,
  settings: SandboxSettings,
  delay: number,
): AcceptedMessage {
  const { channel, fields } = request;
  const { SubAccount: subAccount, Department: department } = fields;
  return {
    channel,
    messageId,
    jobNumber: jobNumber('job', settings.seed, messageId),
    ...(subAccount === undefined ? {} : { subAccount }),
    ...(department === undefined ? {} : { department }),
    content: contentOf(request),
    url: fields['WebhookCallbackURL']?.trim() || defaultUrl,
    sentAt: new Date(settings.now().getTime() + delay),
  };
}
