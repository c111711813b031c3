import type { SendRequest } from '../domain/message.ts';
import { toInstant } from '../platform/zoned-times.ts';
import { regionOf } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';
import { contentOf } from './content.ts';
import type { AcceptedMessage, MessageZone } from './delivery.ts';
import type { Acceptance } from './receive-request.ts';

/** The interface of a request, and settings of the sandbox. */
type AcceptanceSettings = Pick<AcceptedMessage, 'interface' | 'version'> & {
  readonly acceptedAt: Date;
  /** Milliseconds from acceptance to sending, without a SendTime. */
  readonly delay: number;
  /** The sender's default; an IANA name. */
  readonly timeZone: string;
  readonly holdsSendTime: boolean;
};

export function acceptMessage(
  request: SendRequest,
  { messageId, jobNumber }: Acceptance,
  settings: AcceptanceSettings,
): AcceptedMessage {
  const { Reference, SubAccount, Department, TimeZone, SendTime, SendMode, Mode } = request.fields;
  const zone = zoneOf(TimeZone, settings.timeZone);
  const earliest = settings.acceptedAt.getTime() + settings.delay;
  const requestedTime = settings.holdsSendTime ? sendTimeOf(SendTime, zone.region)?.getTime() : undefined;
  const delayed = requestedTime !== undefined && requestedTime > earliest;
  return {
    interface: settings.interface,
    version: settings.version,
    channel: request.channel,
    messageId,
    jobNumber,
    // Published clients send every field, unset ones blank.
    labels: {
      ...(Reference?.trim() && { reference: Reference }),
      ...(SubAccount?.trim() && { subAccount: SubAccount }),
      ...(Department?.trim() && { department: Department }),
    },
    zone,
    content: contentOf(request),
    simulated: [SendMode, Mode].some((mode) => mode?.trim().toLowerCase() === 'test'),
    acceptedAt: settings.acceptedAt,
    sendAt: new Date(delayed ? requestedTime : earliest),
    delayed,
    aborted: false,
    resubmitted: 0,
  };
}

function zoneOf(written: string | undefined, own: string): MessageZone {
  const region = written === undefined ? undefined : regionOf(written.trim());
  return region === undefined || written === undefined ? { written: own, region: own } : { written, region };
}

/** Reads a time with a T or a blank before it; undefined if invalid. */
export function sendTimeOf(written: string | undefined, region: string): Date | undefined {
  const text = written?.trim().replace(' ', 'T') ?? '';
  return isTime(text) ? toInstant(text, region) : undefined;
}
