import { checkBudget } from '../../campaign/budget.ts';
import { type CostEstimate, estimateCost } from '../../campaign/cost.ts';
import type { FieldSource } from '../../campaign/mapping.ts';
import type { MergePlan } from '../../campaign/merge.ts';
import { checkRecipients, differingText } from '../../campaign/recipient-guards.ts';
import { openTariffs } from '../../campaign/tariffs.ts';
import type { ContactFile } from '../../contacts/read.ts';
import {
  type Contact,
  isKeyed,
  type ReachedContacts,
  type RejectedContact,
  type Rejection,
} from '../../domain/contacts.ts';
import type { Channel, Destination, Envelope } from '../../domain/message.ts';
import type { Problem } from '../../domain/problems.ts';
import type { EngineContext } from '../context.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { openFingerprint } from './fingerprint.ts';
import { openFirstContacts } from './first-contacts.ts';
import { checkDeadline, forecastRun, limitsOf, type RunForecast } from './forecast.ts';
import { type LeavingFields, watchLeavingFields } from './leaving-fields.ts';
import { readLeftOut } from './left-out.ts';
import { countLinesBefore, placeReader } from './lines-before.ts';
import type { Origins } from './origins.ts';
import { type PastSendTimes, watchSendTimes } from './past-send-times.ts';
import { countPlan } from './plan-counts.ts';
import type { PreparedCampaign } from './prepare.ts';
import { openReached } from './reached.ts';
import { countRemovedMarks, type RemovedMarks } from './removed-marks.ts';
import { previewRepeat } from './repeats.ts';
import { openSmsReader } from './sms-text.ts';
import { countTurnedTexts, type TurnedTexts } from './turned-texts.ts';

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
  readonly leaving: LeavingFields;
  readonly recipients: number;
  /** A warning for people of duplicates that are left out and would be sent something else; null where there are none. */
  readonly differing: string | null;
  /** Why a run would be refused as a repetition of an earlier one, unless `--again` is said; null where it would not. */
  readonly repeats: string | null;
  readonly requests: number;
  readonly envelopes: number;
  readonly merge: MergePlan;
  /** SMS parts of all messages, as far as they can be told before the service fills its own placeholders. */
  readonly smsParts: number | null;
  /** By the account's rate card. */
  readonly cost: CostEstimate;
  readonly forecast: RunForecast;
  /** Whom the service would send to at once, because their SendTime is over. */
  readonly pastSendTimes: PastSendTimes;
  /** What was taken away around phone numbers. */
  readonly removedMarks: RemovedMarks;
  /** Messages with characters that turn the direction of text. */
  readonly turnedTexts: TurnedTexts;
  readonly rejected: readonly RejectedContact[];
  /** Lines of the campaign's own suppression files that hold no address; the first of them are shown. */
  readonly unreadableSuppressions: { readonly lines: number; readonly problems: readonly Problem[] };
  /** The runs that mended contacts come from, and how many of the contacts those reached or may; null where there are none. */
  readonly origins:
    | (Pick<Origins, 'runs' | 'others'> & { readonly reached: readonly ReachedContacts[] })
    | null;
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

export type PreviewContext = Pick<EngineContext, 'now'> &
  Partial<Pick<EngineContext, 'ledger'>> & {
    /** Once, before the recipients take more memory than all else; with the bytes that each of them takes. */
    readonly onLarge?: (bytesOfEach: number) => void;
  };

/** Bytes of the counted recipients from which on it is told that they take memory. */
const large = 32 * 1024 * 1024;

/**
 * Counts what a run would count. Memory grows with the number of addresses, not with the size of what they are sent: by
 * some 25 bytes each, by 50 where each is sent something of its own, and by more where it is suppressed.
 *
 * @param context without a ledger, only the campaign's own suppression lists are looked at
 * @throws RefusedRunError when the contacts are not such that a run is made of them
 * @throws InputError when the plan would cost more than its budget, or has one and its cost cannot be told; or when somebody
 *   would miss a deadline that is not to be missed
 */
export async function previewCampaign(
  {
    campaign,
    account,
    composition,
    contactFiles,
    contacts,
    found,
    files,
    origin,
    suppressionLists,
  }: PreparedCampaign,
  context: PreviewContext,
): Promise<Preview> {
  const { channel, dispatch, ...definition } = campaign.value;
  const linesBefore = countLinesBefore(contactFiles);
  const tariffs = openTariffs(channel, account);
  const planned = countPlan(tariffs, isKeyed(composition.identity));
  const now = context.now();
  const pastTimes = watchSendTimes(campaign.value.message, now);
  const removedMarks = channel === 'email' ? undefined : countRemovedMarks();
  const turnedTexts = countTurnedTexts();
  const planWindow = windowPlanner(campaign.value.window, account.interface, now);
  const leaving = watchLeavingFields(composition.target, channel);
  const readSms = channel === 'sms' ? openSmsReader() : undefined;
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const rejected: RejectedContact[] = [];
  const messages: PreviewedMessage[] = [];

  const whyLeftOut = await readLeftOut(campaign.value, account, suppressionLists, context);

  const reachedBefore = openReached(context, campaign.value, origin, composition.identity);
  const nameOf = (file: number): string => contactFiles[file]?.name ?? '';
  const placeOf = placeReader(contactFiles, linesBefore);
  const firsts = openFirstContacts(composition.identity, placeOf);
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
    const whyReached = reachedBefore.whyReached(compared, contact.key);
    if (whyReached !== undefined) {
      reject(contact, { column, reason: 'duplicate', detail: whyReached });
      return;
    }
    const lineOfAll = linesBefore(file) + line;
    const detail = firsts.repeats(contact, compared, lineOfAll);
    if (detail !== undefined) {
      reject(contact, { column, reason: 'duplicate', detail });
      return;
    }
    const destination: Destination = { Recipient: address, ...contact.destination };
    const sms = readSms?.(envelope, destination);
    planned.add({ ...contact, line: lineOfAll, compared }, sms?.parts ?? null);
    leaving.add(envelope, contact.destination);
    pastTimes.add(envelope, () => placeOf(lineOfAll));
    removedMarks?.add(contact.originalAddress, () => placeOf(lineOfAll));
    turnedTexts.add(envelope, contact.destination, () => placeOf(lineOfAll));
    if (messages.length < shownMessages) {
      const held = contact.zones === undefined ? undefined : planWindow?.(contact.zones.split(','));
      const fields = { ...envelope.fields, ...held?.handover?.fields };
      messages.push({
        ...{ file: nameOf(file), line, destination },
        ...{ ...envelope, fields, text: sms?.text ?? null },
      });
    }
  };

  const fingerprint = openFingerprint(campaign.value);
  let told = false;
  for await (const batch of context.ledger ? fingerprint.watch(contacts) : contacts) {
    counts.read += batch.length;
    await reachedBefore.look(found().origins);
    for (const contact of batch) take(contact);
    const kept = firsts.bytes() + planned.bytes();
    if (kept < large || told) continue;
    told = true;
    context.onLarge?.(Math.ceil(kept / Math.max(1, counts.read - counts.invalid)));
  }

  await reachedBefore.look(found().origins);
  const totals = planned.totals();
  const recipients = planned.recipients();
  const repeated = firsts.repeated();
  const reached = reachedBefore.reached();
  checkRecipients(campaign, found(), { ...counts, reached, repeated, recipients }, placeOf);
  const cost = estimateCost(totals, channel, tariffs.rates(), now);
  checkBudget(campaign, cost);
  const portions = planned.portions(dispatch.chunkSize);
  for (const { zones } of portions)
    leaving.addFields(Object.keys((zones.length > 0 && planWindow?.(zones).handover?.fields) || {}));
  const rates = { limits: await limitsOf(context, account), from: now };
  const forecast = forecastRun(campaign.value, account, rates, portions, placeOf);
  checkDeadline(campaign, forecast);
  const relatives = reachedBefore.origins().relatives.map(({ run }) => run);
  const previewed = { fingerprint, readFile: files.read, now, relatives };
  const repeats = context.ledger && (await previewRepeat(context.ledger.pool, campaign.value, previewed));
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    contacts: counts,
    filtered: composition.filter ? found().filtered : null,
    mapping: composition.mapping,
    leaving: leaving.found(),
    recipients,
    differing: differingText(repeated, placeOf) ?? null,
    repeats: repeats ?? null,
    requests: planned.requests(dispatch.chunkSize),
    envelopes: planned.envelopes(),
    merge: composition.merge,
    smsParts: readSms ? totals.reduce((sum, { parts }) => sum + (parts ?? 0), 0) : null,
    cost,
    forecast,
    pastSendTimes: pastTimes.found(),
    turnedTexts: turnedTexts.found(),
    removedMarks: removedMarks?.found() ?? { recipients: 0, marks: [], examples: [] },
    rejected,
    unreadableSuppressions: suppressionLists.unreadable(),
    origins: originsOf(reachedBefore.origins(), reached),
    ledger: context.ledger ? 'read' : 'not read',
    messages,
  };
}

function originsOf({ runs, others }: Origins, reached: readonly ReachedContacts[]): Preview['origins'] {
  return runs.length + others.length > 0 ? { runs, others, reached } : null;
}
