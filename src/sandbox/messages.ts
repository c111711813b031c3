import { LRUCache } from 'lru-cache';
import { type DeliveryReportFormat, deliveryReportFormats } from '../domain/delivery-reports.ts';
import type { Channel, Destination, InterfaceName, MessageFields } from '../domain/message.ts';
import { toInstant } from '../platform/zoned-times.ts';
import type { DeliveryReportCredentials } from '../wire/encode-delivery-report.ts';
import { regionOf } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';
import type { Clock } from './clock.ts';
import { type Content, contentOf } from './content.ts';
import type { DeliveryReportId, SandboxSettings } from './options.ts';
import type { Acceptance, Receipt } from './receive-request.ts';

/** An accepted message: only what its delivery reports and status need. */
export type AcceptedMessage = Acceptance & {
  readonly interface: InterfaceName;
  readonly version: string;
  readonly channel: Channel;
  /** What the sender calls the message, and whose it is. */
  readonly labels: {
    readonly reference?: string;
    readonly subAccount?: string;
    readonly department?: string;
  };
  /** The zone of its local times, or the sender's default. */
  readonly zone: { readonly written: string; readonly region: string };
  readonly content: Content;
  readonly destinations: readonly Destination[];
  /** Undefined if no reports are sent. */
  readonly callback: Callback | undefined;
  /** Not delivered and not charged (interface.md, section 1: `SendMode`). */
  readonly simulated: boolean;
  readonly acceptedAt: Date;
  /** Its SendTime, or as soon as possible. */
  readonly sendAt: Date;
  /** Waits for a SendTime. */
  readonly delayed: boolean;
  /** A caller stopped it before it was sent. */
  readonly aborted: boolean;
  /** How often a caller had it sent again to failed recipients. */
  readonly resubmitted: number;
};

export type Callback = {
  readonly url: string;
  readonly format: DeliveryReportFormat;
  readonly id: DeliveryReportId;
  /** An e-mail address, for the header of every call. */
  readonly sender: string;
  readonly credentials?: DeliveryReportCredentials;
};

export type KeptMessage = AcceptedMessage & {
  /** Cancels reports that still wait. */
  readonly cancelReports: () => void;
};

/** Accepted messages, whose delivery reports are scheduled. */
export type Messages = ReturnType<typeof openMessages>;

/** @param schedule schedules reports after milliseconds of the clock, and returns what cancels them */
export function openMessages(
  settings: SandboxSettings,
  clock: Clock,
  schedule: (message: AcceptedMessage, recipients: readonly Destination[], delay: number) => () => void,
) {
  const messages = keepNewest();
  const keep = (message: AcceptedMessage, recipients: readonly Destination[]): void => {
    const delay = message.sendAt.getTime() - clock.now().getTime();
    messages.set(message.messageId, { ...message, cancelReports: schedule(message, recipients, delay) });
  };
  return {
    /** Does nothing for a request that was not accepted. */
    add(receipt: Receipt): void {
      const message = acceptMessage(receipt, settings, clock);
      if (message) keep(message, message.destinations);
    },
    /** @param recipients whose delivery is reported when the message is sent */
    replace(kept: KeptMessage, message: AcceptedMessage, recipients: readonly Destination[]): void {
      kept.cancelReports();
      keep(message, recipients);
    },
    /** The newest with this MessageID. */
    find: (messageId: string) => messages.peek(messageId),
    /** The oldest first. */
    all: () => [...messages.rvalues()].flatMap((message) => message ?? []),
  };
}

/** The most recipients of all messages together; the oldest messages are dropped. */
const maxRecipients = 500_000;

/** Characters that use as much memory as a recipient. */
const charactersPerRecipient = 500;

/** @param limit recipients; long texts count as more */
export function keepNewest(limit: number = maxRecipients): LRUCache<string, KeptMessage> {
  return new LRUCache<string, KeptMessage>({ maxSize: limit, sizeCalculation: sizeOf });
}

function sizeOf({ content, destinations }: AcceptedMessage): number {
  const texts = [content.kind === 'sms' ? content.text : '', ...destinations.flatMap(Object.values<string>)];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return 1 + destinations.length + Math.floor(characters / charactersPerRecipient);
}

/** @returns undefined for a request that was not accepted */
export function acceptMessage(
  { interface: interfaceName, version, request, acceptedAs }: Receipt,
  { latency, deliveryDelay, holdsSendTime, timeZone, webhook }: SandboxSettings,
  clock: Clock,
): AcceptedMessage | undefined {
  if (!interfaceName || version === undefined || !request || !acceptedAs) return undefined;
  const { Reference, SubAccount, Department, TimeZone, SendTime, SendMode, Mode } = request.fields;
  const region = TimeZone === undefined ? undefined : regionOf(TimeZone.trim());
  const zone =
    region === undefined || TimeZone === undefined
      ? { written: timeZone, region: timeZone }
      : { written: TimeZone, region };
  const acceptedAt = clock.now();
  const earliest = acceptedAt.getTime() + latency * clock.speed + deliveryDelay;
  const requestedTime = holdsSendTime ? sendTimeOf(SendTime, zone.region)?.getTime() : undefined;
  const delayed = requestedTime !== undefined && requestedTime > earliest;
  return {
    interface: interfaceName,
    version,
    channel: request.channel,
    ...acceptedAs,
    // Published clients send every field, unset ones blank.
    labels: {
      ...(Reference?.trim() && { reference: Reference }),
      ...(SubAccount?.trim() && { subAccount: SubAccount }),
      ...(Department?.trim() && { department: Department }),
    },
    zone,
    content: contentOf(request),
    destinations: request.destinations.filter(({ Recipient }) => Recipient.trim() !== ''),
    callback: callbackOf(request.fields, webhook),
    simulated: [SendMode, Mode].some((mode) => mode?.trim().toLowerCase() === 'test'),
    acceptedAt,
    sendAt: new Date(delayed ? requestedTime : earliest),
    delayed,
    aborted: false,
    resubmitted: 0,
  };
}

/** Reads a time with a T or a blank before it; undefined if invalid. */
export function sendTimeOf(written: string | undefined, region: string): Date | undefined {
  const text = written?.trim().replace(' ', 'T') ?? '';
  return isTime(text) ? toInstant(text, region) : undefined;
}

/** The `X-Sender` of calls without configured credentials. */
const defaultSender = 'sandbox@service.example';

/** A request overrides the sender's default webhook, which must be configured (interface.md, 2.1 and 6). */
function callbackOf(fields: MessageFields, webhook: SandboxSettings['webhook']): Callback | undefined {
  if (!webhook) return undefined;
  const requested = fields['WebhookCallbackFormat']?.trim().toLowerCase();
  return {
    url: fields['WebhookCallbackURL']?.trim() || webhook.url,
    format: deliveryReportFormats.find((format) => format === requested) ?? webhook.format ?? 'json',
    id: webhook.id ?? 'message',
    sender: webhook.credentials?.sender ?? defaultSender,
    ...(webhook.credentials && { credentials: webhook.credentials }),
  };
}
