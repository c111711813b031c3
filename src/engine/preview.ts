import { hash } from 'node:crypto';
import type { FieldSource } from '../campaign/mapping.ts';
import type { MergePlan } from '../campaign/merge.ts';
import type { Channel, Contact, Destination, Envelope, RejectedContact, Rejection } from '../domain.ts';
import type { PreparedCampaign } from './prepare.ts';
import { openSmsReader } from './sms-text.ts';

/** What a run of this campaign would be; nothing is sent or written. */
export type Preview = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly contacts: {
    readonly read: number;
    readonly invalid: number;
    readonly duplicate: number;
    readonly suppressed: number;
  };
  /** Rows that `contacts.where` leaves out; they are not among those read. Null where the campaign is for all. */
  readonly filtered: number | null;
  /** The names of the contact files. */
  readonly files: readonly string[];
  readonly mapping: readonly FieldSource[];
  readonly recipients: number;
  readonly requests: number;
  readonly envelopes: number;
  readonly merge: MergePlan;
  /** SMS parts of all messages, as far as they can be told before the service fills its own placeholders. */
  readonly smsParts: number | null;
  readonly rejected: readonly RejectedContact[];
  readonly messages: readonly PreviewedMessage[];
};

export type PreviewedMessage = Envelope & {
  /** The contact file's name. */
  readonly file: string;
  readonly line: number;
  readonly destination: Destination;
  /** The SMS text as the recipient will read it; null in other channels. */
  readonly text: string | null;
};

/** Rejected contacts and messages that are shown; all are counted. */
const shownRejected = 20;
const shownMessages = 3;
/** More than a file has lines. */
const filePlaces = 2 ** 32;

/** Counts what a run would count. Memory grows with the number of addresses, not with the size of what they are sent. */
export async function previewCampaign({
  campaign,
  composition,
  contacts,
  contactFiles,
  filtered,
}: PreparedCampaign): Promise<Preview> {
  const { channel, dispatch, ...definition } = campaign.value;
  const names = contactFiles.map(({ name }) => name);
  const nameOf = (file: number): string => names[file] ?? '';
  /** File and line as one number: there is one for every address. */
  const placeOfAddress = new Map<string, number>();
  const placeText = (place: number): string => {
    const line = place % filePlaces;
    return names.length > 1 ? `${nameOf(Math.floor(place / filePlaces))}:${line}` : `line ${line}`;
  };
  const envelopes = countEnvelopes();
  const readSms = channel === 'sms' ? openSmsReader() : undefined;
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const rejected: RejectedContact[] = [];
  const messages: PreviewedMessage[] = [];
  let smsParts = 0;

  const reject = ({ file, line }: Contact, { column, reason, detail }: Rejection): void => {
    counts[reason]++;
    if (rejected.length < shownRejected) {
      rejected.push({ file: nameOf(file), line, column, reason, detail });
    }
  };

  const look = (contact: Contact): void => {
    counts.read++;
    if (contact.kind === 'rejected') {
      reject(contact, contact);
      return;
    }
    const { file, line, address, envelope } = contact;
    const first = placeOfAddress.get(address);
    if (first !== undefined) {
      const column = composition.recipientColumn;
      reject(contact, { column, reason: 'duplicate', detail: `same address as ${placeText(first)}` });
      return;
    }
    placeOfAddress.set(address, file * filePlaces + line);
    envelopes.add(envelope);

    const destination: Destination = { Recipient: address, ...contact.destination };
    const sms = readSms?.(envelope, destination);
    if (sms) smsParts += sms.parts;
    if (messages.length < shownMessages) {
      messages.push({ file: nameOf(file), line, destination, ...envelope, text: sms?.text ?? null });
    }
  };
  for await (const batch of contacts) for (const contact of batch) look(contact);

  const sizes = envelopes.sizes();
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    contacts: counts,
    filtered: composition.filter ? filtered() : null,
    files: names,
    mapping: composition.mapping,
    recipients: placeOfAddress.size,
    requests: sizes.reduce((requests, size) => requests + Math.ceil(size / dispatch.chunkSize), 0),
    envelopes: sizes.length,
    merge: composition.merge,
    smsParts: readSms ? smsParts : null,
    rejected,
    messages,
  };
}

/** Counts recipients by envelope. An envelope is known as an object; equal ones are told by their hash. */
function countEnvelopes(): { readonly add: (envelope: Envelope) => void; readonly sizes: () => number[] } {
  const byHash = new Map<string, { recipients: number }>();
  const known = new WeakMap<Envelope, { recipients: number }>();
  const look = (envelope: Envelope): { recipients: number } => {
    const key = hash('sha256', JSON.stringify(envelope), 'base64');
    const count = byHash.get(key) ?? { recipients: 0 };
    byHash.set(key, count);
    known.set(envelope, count);
    return count;
  };
  return {
    add: (envelope) => {
      const count = known.get(envelope) ?? look(envelope);
      count.recipients++;
    },
    sizes: () => [...byHash.values()].map(({ recipients }) => recipients),
  };
}
