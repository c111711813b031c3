import { hash } from 'node:crypto';
import { checkBudget } from '../campaign/budget.ts';
import { addTotals, type CostEstimate, type CostTotal, estimateCost } from '../campaign/cost.ts';
import type { Definition } from '../campaign/definition.ts';
import type { FieldSource } from '../campaign/mapping.ts';
import type { MergePlan } from '../campaign/merge.ts';
import type { ContactFile } from '../contacts/read.ts';
import type {
  Channel,
  Contact,
  Destination,
  Envelope,
  Problem,
  RejectedContact,
  Rejection,
} from '../domain.ts';
import { inSession } from '../ledger/connection.ts';
import { type LeftOutAddress, streamLeftOutAddresses } from '../ledger/contacts/suppress.ts';
import {
  type HashKey,
  hashedDetail,
  listHashedSuppressions,
  requireHashKey,
} from '../ledger/suppressions/hash.ts';
import type { EngineContext } from './context.ts';
import { frequencyCapOf } from './frequency-cap.ts';
import { countLinesBefore } from './lines-before.ts';
import type { PreparedCampaign } from './prepare.ts';
import { openSmsReader } from './sms-text.ts';
import type { SuppressionLists } from './suppression-lists.ts';

/** What a run of this campaign would be; nothing is sent or written. */
export type Preview = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly files: readonly PreviewedFile[];
  readonly contacts: {
    readonly read: number;
    readonly invalid: number;
    readonly duplicate: number;
    readonly suppressed: number;
  };
  /** Rows that `contacts.where` leaves out; they are not among those read. Null where the campaign is for all. */
  readonly filtered: number | null;
  readonly mapping: readonly FieldSource[];
  readonly recipients: number;
  readonly requests: number;
  readonly envelopes: number;
  readonly merge: MergePlan;
  /** SMS parts of all messages, as far as they can be told before the service fills its own placeholders. */
  readonly smsParts: number | null;
  /** By the account's rate card. */
  readonly cost: CostEstimate;
  readonly rejected: readonly RejectedContact[];
  /** Lines of the campaign's own suppression files that hold no address; the first of them are shown. */
  readonly unreadableSuppressions: { readonly lines: number; readonly problems: readonly Problem[] };
  /** Whether the ledger's suppressions, and what it has sent, were looked at. */
  readonly ledger: 'read' | 'not read';
  readonly messages: readonly PreviewedMessage[];
};

/** A contact file, and how it turned out to be written. */
export type PreviewedFile = { readonly name: string } & ReturnType<ContactFile['format']>;

export type PreviewedMessage = Envelope & {
  readonly file: string;
  readonly line: number;
  readonly destination: Destination;
  /** The SMS text as the recipient will read it; null in other channels. */
  readonly text: string | null;
};

/** Rejected contacts and messages that are shown; all are counted. */
const shownRejected = 20;
const shownMessages = 3;

/**
 * Counts what a run would count. Memory grows with the number of addresses, suppressed ones too, not with the size of
 * what they are sent.
 *
 * @param context the ledger, whose suppressions are looked at; without one, only the campaign's own lists are
 * @throws InputError when the plan would cost more than its budget, or has one and its cost cannot be told
 */
export async function previewCampaign(
  { campaign, account, composition, contactFiles, contacts, filtered, suppressionLists }: PreparedCampaign,
  context: Pick<EngineContext, 'ledger' | 'now'> | undefined,
): Promise<Preview> {
  const { channel, dispatch, ...definition } = campaign.value;
  const linesBefore = countLinesBefore(contactFiles);
  const severalFiles = contactFiles.length > 1;
  const lineOfAddress = new Map<string, number>();
  const envelopes = countEnvelopes();
  const readSms = channel === 'sms' ? openSmsReader() : undefined;
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const rejected: RejectedContact[] = [];
  const messages: PreviewedMessage[] = [];

  const whyLeftOut = await readLeftOut(campaign.value, suppressionLists, context);

  const nameOf = (file: number): string => contactFiles[file]?.name ?? '';
  /** A place as people are told it, from a line that was counted on from file to file. */
  const placeOf = (lineOfAll: number): string => {
    const file = contactFiles.findLastIndex((_, index) => linesBefore(index) < lineOfAll);
    const line = lineOfAll - linesBefore(file);
    return severalFiles ? `${nameOf(file)}:${line}` : `line ${line}`;
  };
  const reject = ({ file, line }: Contact, { column, reason, detail }: Rejection): void => {
    counts[reason]++;
    if (rejected.length < shownRejected) rejected.push({ file: nameOf(file), line, column, reason, detail });
  };
  const take = (contact: Contact): void => {
    if (contact.kind === 'rejected') {
      reject(contact, contact);
      return;
    }
    const { file, line, address, envelope } = contact;
    const { recipientColumn: column } = composition;
    const compared = channel === 'email' ? address.toLowerCase() : address;
    const suppressed = whyLeftOut(compared, envelope.fields['SubAccount'] ?? '');
    if (suppressed !== undefined) {
      reject(contact, { column, reason: 'suppressed', detail: suppressed });
      return;
    }
    const first = lineOfAddress.get(compared);
    if (first !== undefined) {
      const detail = `same address as ${placeOf(first)}`;
      reject(contact, { column, reason: 'duplicate', detail });
      return;
    }
    lineOfAddress.set(compared, linesBefore(file) + line);

    const destination: Destination = { Recipient: address, ...contact.destination };
    const sms = readSms?.(envelope, destination);
    envelopes.add(envelope, sms?.parts ?? null);
    if (messages.length < shownMessages) {
      messages.push({ file: nameOf(file), line, destination, ...envelope, text: sms?.text ?? null });
    }
  };

  for await (const batch of contacts) {
    counts.read += batch.length;
    for (const contact of batch) take(contact);
  }

  const counted = envelopes.counts();
  const sum = (numberOf: (count: EnvelopeCount) => number): number =>
    counted.reduce((total, count) => total + numberOf(count), 0);
  const cost = estimateCost(addTotals(counted), channel, account.rates);
  checkBudget(campaign, cost);
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    contacts: counts,
    filtered: composition.filter ? filtered() : null,
    mapping: composition.mapping,
    recipients: lineOfAddress.size,
    requests: sum(({ recipients }) => Math.ceil(recipients / dispatch.chunkSize)),
    envelopes: counted.length,
    merge: composition.merge,
    smsParts: readSms ? sum(({ parts }) => parts ?? 0) : null,
    cost,
    rejected,
    unreadableSuppressions: suppressionLists.unreadable(),
    ledger: context ? 'read' : 'not read',
    messages,
  };
}

/** Why an address is left out for a SubAccount; undefined when it is not. */
type WhyLeftOut = (address: string, subAccount: string) => string | undefined;

/** In the order of importance that a run goes by: the campaign's own lists, suppressions, the frequency cap. */
async function readLeftOut(
  definition: Definition,
  lists: SuppressionLists,
  context: Pick<EngineContext, 'ledger' | 'now'> | undefined,
): Promise<WhyLeftOut> {
  type Reason = LeftOutAddress & { readonly recent?: boolean };
  const reasons = new Map<string, Reason[]>();
  const add = async (batches: AsyncIterable<readonly Reason[]>): Promise<void> => {
    for await (const batch of batches) {
      for (const entry of batch) {
        const known = reasons.get(entry.address);
        if (known) known.push(entry);
        else reasons.set(entry.address, [entry]);
      }
    }
  };
  await add(lists.addresses);
  let whyHashed: WhyLeftOut = () => undefined;
  if (context) {
    const { hashKey, pool } = context.ledger;
    const cap = frequencyCapOf(definition, context.now());
    await inSession(pool, async (client) => {
      await client.query('BEGIN READ ONLY');
      whyHashed = await readHashed(client, definition.channel, hashKey);
      await add(streamLeftOutAddresses(client, definition.channel, cap));
      await client.query('COMMIT');
    });
  }
  return (address, subAccount) => {
    const known = reasons
      .get(address)
      ?.find((entry) => entry.subAccount === '' || entry.subAccount === subAccount);
    return known && !known.recent ? known.detail : (whyHashed(address, subAccount) ?? known?.detail);
  };
}

/** @throws InputError when suppressions are hashed and this is not their key */
async function readHashed(
  client: Parameters<typeof listHashedSuppressions>[0],
  channel: Channel,
  key: HashKey | null,
): Promise<WhyLeftOut> {
  const subAccounts = new Map<string, string[]>();
  for (const { hash, subAccount } of await listHashedSuppressions(client, channel)) {
    const known = hash.toString('hex');
    subAccounts.set(known, [...(subAccounts.get(known) ?? []), subAccount]);
  }
  await requireHashKey(client, key);
  if (key === null || subAccounts.size === 0) return () => undefined;
  return (address, subAccount) => {
    const found = subAccounts
      .get(key.hash(channel, address).toString('hex'))
      ?.find((each) => each === '' || each === subAccount);
    return found === undefined ? undefined : hashedDetail(channel, found);
  };
}

/** Recipients of an envelope, and what they are sent. */
type EnvelopeCount = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };

/** Counts recipients by envelope. An envelope is known as an object; equal ones are told by their hash. */
function countEnvelopes(): {
  readonly add: (envelope: Envelope, parts: number | null) => void;
  readonly counts: () => readonly EnvelopeCount[];
} {
  const byHash = new Map<string, EnvelopeCount>();
  const known = new WeakMap<Envelope, EnvelopeCount>();
  const look = (envelope: Envelope): EnvelopeCount => {
    const key = hash('sha256', JSON.stringify(envelope), 'base64');
    const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = envelope.fields;
    const count = byHash.get(key) ?? { subAccount, chargeCode, recipients: 0, parts: null };
    byHash.set(key, count);
    known.set(envelope, count);
    return count;
  };
  return {
    add: (envelope, parts) => {
      const count = known.get(envelope) ?? look(envelope);
      count.recipients++;
      if (parts !== null) count.parts = (count.parts ?? 0) + parts;
    },
    counts: () => [...byHash.values()],
  };
}
