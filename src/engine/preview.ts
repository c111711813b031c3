import { hash } from 'node:crypto';
import { checkBudget } from '../campaign/budget.ts';
import { type CostEstimate, costTally, estimateCost } from '../campaign/cost.ts';
import type { FieldSource } from '../campaign/mapping.ts';
import { type MergePlan, mergedText } from '../campaign/merge.ts';
import type { Channel, Destination, Envelope, RejectedContact } from '../domain.ts';
import type { PreparedCampaign } from './prepare.ts';
import { countSmsParts } from './sms-parts.ts';

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
  readonly messages: readonly PreviewedMessage[];
};

export type PreviewedMessage = Envelope & {
  readonly line: number;
  readonly destination: Destination;
  /** The SMS text as the recipient will read it; null in other channels. */
  readonly text: string | null;
};

/** Rejected contacts and messages that are shown; all are counted. */
const shownRejected = 20;
const shownMessages = 3;

/**
 * Counts what a run would count. Memory grows with the number of addresses, not with the size of what they are sent.
 *
 * @throws InputError when the plan would cost more than its budget, or has one and its cost cannot be told
 */
export async function previewCampaign({
  campaign,
  account,
  composition,
  contacts,
  filtered,
}: PreparedCampaign): Promise<Preview> {
  const { channel, dispatch, ...definition } = campaign.value;
  const lineOfAddress = new Map<string, number>();
  const sizeOfEnvelope = new Map<string, number>();
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const rejected: RejectedContact[] = [];
  const messages: PreviewedMessage[] = [];
  const tally = costTally();
  let smsParts = 0;

  const reject = (contact: RejectedContact): void => {
    counts[contact.reason]++;
    if (rejected.length < shownRejected) rejected.push(contact);
  };

  for await (const contact of contacts) {
    counts.read++;
    if (contact.kind === 'rejected') {
      reject(contact);
      continue;
    }
    const { line, address, envelope } = contact;
    const first = lineOfAddress.get(address);
    if (first !== undefined) {
      const column = composition.recipientColumn;
      reject({ line, column, reason: 'duplicate', detail: `same address as line ${first}` });
      continue;
    }
    lineOfAddress.set(address, line);
    const key = hash('sha256', JSON.stringify(envelope), 'base64');
    sizeOfEnvelope.set(key, (sizeOfEnvelope.get(key) ?? 0) + 1);

    const destination: Destination = { Recipient: address, ...contact.destination };
    const text = channel === 'sms' ? mergedText(envelope.fields['Message'] ?? '', destination) : null;
    const parts =
      text === null ? null : countSmsParts(text, envelope.fields['CharacterConversion'] === 'true');
    smsParts += parts ?? 0;
    tally.add(envelope.fields, parts);
    if (messages.length < shownMessages) messages.push({ line, destination, ...envelope, text });
  }

  const cost = estimateCost(tally.totals(), channel, account.rates);
  checkBudget(campaign, cost);
  let requests = 0;
  for (const size of sizeOfEnvelope.values()) requests += Math.ceil(size / dispatch.chunkSize);
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    contacts: counts,
    filtered: composition.filter ? filtered() : null,
    mapping: composition.mapping,
    recipients: lineOfAddress.size,
    requests,
    envelopes: sizeOfEnvelope.size,
    merge: composition.merge,
    smsParts: channel === 'sms' ? smsParts : null,
    cost,
    rejected,
    messages,
  };
}
