import type { SendRequest } from '../domain/message.ts';
import { momentOf } from '../platform/zoned-times.ts';
import { regionOf } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';
import { contentOf } from './content.ts';
import type { AcceptedMessage, MessageZone } from './delivery.ts';
import type { Acceptance } from './receive.ts';

/** What a request was sent by, and what the service does with any. */
export type AcceptanceSettings = Pick<AcceptedMessage, 'interface' | 'version'> & {
  readonly acceptedAt: Date;
  /** Milliseconds until a message without a SendTime is sent. */
  readonly delay: number;
  /** The sender's own, a name of the IANA database. */
  readonly timeZone: string;
  /** Whether a message waits for its SendTime. */
  readonly holdsSendTime: boolean;
};

export function acceptMessage(
  request: SendRequest,
  { messageId, jobNumber }: Acceptance,
  terms: AcceptanceSettings,
): AcceptedMessage {
  const { Reference, SubAccount, Department, TimeZone, SendTime, SendMode, Mode } = request.fields;
  const zone = zoneOf(TimeZone, terms.timeZone);
  const soonest = terms.acceptedAt.getTime() + terms.delay;
  const asked = terms.holdsSendTime ? sendTimeOf(SendTime, zone.region)?.getTime() : undefined;
  const delayed = asked !== undefined && asked > soonest;
  return {
    interface: terms.interface,
    version: terms.version,
    channel: request.channel,
    messageId,
    jobNumber,
    // Published clients send every field, blank where nobody set it.
    ...(Reference?.trim() && { reference: Reference }),
    ...(SubAccount?.trim() && { subAccount: SubAccount }),
    ...(Department?.trim() && { department: Department }),
    zone,
    content: contentOf(request),
    simulated: [SendMode, Mode].some((mode) => mode?.trim().toLowerCase() === 'test'),
    acceptedAt: terms.acceptedAt,
    sentAt: new Date(delayed ? asked : soonest),
    delayed,
    aborted: false,
    resubmitted: 0,
  };
}

function zoneOf(written: string | undefined, own: string): MessageZone {
  const region = written === undefined ? undefined : regionOf(written.trim());
  return region === undefined || written === undefined ? { written: own, region: own } : { written, region };
}

/** The moment of a SendTime, with a T or a blank before the time; undefined for what is none. */
export function sendTimeOf(written: string | undefined, region: string): Date | undefined {
  const text = written?.trim().replace(' ', 'T') ?? '';
  return isTime(text) ? momentOf(text, region) : undefined;
}
