import { checkBudget } from '../campaign/budget.ts';
import { type CostEstimate, estimateCost } from '../campaign/cost.ts';
import type { Definition } from '../campaign/definition.ts';
import type { FieldSource } from '../campaign/mapping.ts';
import type { MergePlan } from '../campaign/merge.ts';
import { openTariffs } from '../campaign/tariffs.ts';
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
import { countPlan } from './plan-counts.ts';
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

export type PreviewContext = Pick<EngineContext, 'now'> & Partial<Pick<EngineContext, 'ledger'>>;

/**
 * Counts what a run would count. Memory grows with the number of addresses, suppressed ones too, not with the size of
 * what they are sent.
 *
 * @param context without a ledger, only the campaign's own suppression lists are looked at
 * @throws InputError when the plan would cost more than its budget, or has one and its cost cannot be told
 */
export async function previewCampaign(
  { campaign, account, composition, contactFiles, contacts, filtered, suppressionLists }: PreparedCampaign,
  context: PreviewContext,
): Promise<Preview> {
  const { channel, dispatch, ...definition } = campaign.value;
  const linesBefore = countLinesBefore(contactFiles);
  const severalFiles = contactFiles.length > 1;
  const lineOfAddress = new Map<string, number>();
  const tariffs = openTariffs(channel, account);
  const planned = countPlan(tariffs);
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
    planned.add(envelope, address, sms?.parts ?? null);
    if (messages.length < shownMessages) {
      messages.push({ file: nameOf(file), line, destination, ...envelope, text: sms?.text ?? null });
    }
  };

  for await (const batch of contacts) {
    counts.read += batch.length;
    for (const contact of batch) take(contact);
  }

  const totals = planned.totals();
  const sizes = planned.envelopeSizes();
  const cost = estimateCost(totals, channel, tariffs.rates(), context.now());
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
    requests: sizes.reduce((sum, size) => sum + Math.ceil(size / dispatch.chunkSize), 0),
    envelopes: sizes.length,
    merge: composition.merge,
    smsParts: readSms ? totals.reduce((sum, { parts }) => sum + (parts ?? 0), 0) : null,
    cost,
    rejected,
    unreadableSuppressions: suppressionLists.unreadable(),
    ledger: context.ledger ? 'read' : 'not read',
    messages,
  };
}

/** Why an address is left out for a SubAccount; undefined when it is not. */
type WhyLeftOut = (address: string, subAccount: string) => string | undefined;

/** In the order of importance that a run goes by: the campaign's own lists, suppressions, the frequency cap. */
async function readLeftOut(
  definition: Definition,
  lists: SuppressionLists,
  context: PreviewContext,
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
  const { ledger, now } = context;
  if (ledger) {
    const { hashKey, pool } = ledger;
    const cap = frequencyCapOf(definition, now());
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
