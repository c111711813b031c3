import { checkBudget } from '../../campaign/budget.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { checkRecipients, formatDiffering } from '../../campaign/recipient-guards.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { comparedAddress } from '../../domain/compared-address.ts';
import { type Contact, isKeyed, type RejectedContact } from '../../domain/contacts.ts';
import type { Destination } from '../../domain/message.ts';
import type { ReachedContacts, RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import { formatReason } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { countBidiControls } from './bidi-controls.ts';
import { createDuplicateFinder } from './duplicate-finder.ts';
import { createFingerprint } from './fingerprint.ts';
import { forecastRun, readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import { countLinesBefore, createLineFinder, fileAndLineFormatter } from './line-numbers.ts';
import type { Origins } from './origins.ts';
import { countPastSendTimes } from './past-send-times.ts';
import { createPlanCounts } from './plan-counts.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview, PreviewedMessage } from './preview.ts';
import { createReachedFinder } from './reached-finder.ts';
import { countRemovedMarks } from './removed-marks.ts';
import { findRepeatInPreview } from './repeat-check.ts';
import { collectSentFields } from './sent-fields.ts';
import { createSmsReader } from './sms-text.ts';
import { readSuppressedReasons } from './suppressed-reasons.ts';

/** All are counted, only the first shown. */
const maxRejected = 20;
const maxMessages = 3;

export type PreviewContext = Pick<EngineContext, 'now'> &
  Partial<Pick<EngineContext, 'ledger'>> & {
    /** Called once, when the counts need more memory than everything else. */
    readonly onLarge?: (bytesOfEach: number) => void;
  };

const largeBytes = 32 * 1024 * 1024;

/**
 * Counts what a run would count. Memory grows with the number of addresses: about 25 bytes each, 50 with an envelope
 * of its own, and more when suppressed.
 *
 * @param context without a ledger, only the campaign's own suppression lists are read
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, has a budget and an unknown cost, or would miss a deadline
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
  const tariffs = createTariffs(channel, account);
  const planned = createPlanCounts(tariffs, isKeyed(composition.identity));
  const now = context.now();
  const pastTimes = countPastSendTimes(campaign.value.message, now);
  const removedMarks = channel === 'email' ? undefined : countRemovedMarks();
  const turnedTexts = countBidiControls();
  const planWindow = windowPlanner(campaign.value.window, account.interface, now);
  const leaving = collectSentFields(composition.target, channel);
  const readSms = channel === 'sms' ? createSmsReader() : undefined;
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const rejected: RejectedContact[] = [];
  const messages: PreviewedMessage[] = [];

  const whyLeftOut = await readSuppressedReasons(campaign.value, account, suppressionLists, context);

  const reachedBefore = createReachedFinder(context, campaign.value, origin, composition.identity);
  const nameOf = (file: number): string => contactFiles[file]?.name ?? '';
  const placeOf = fileAndLineFormatter(contactFiles, linesBefore);
  const firsts = createDuplicateFinder(composition.identity, createLineFinder(contactFiles, linesBefore));
  type Rejection = Pick<RejectedContactRecord, 'column' | 'reason' | 'detail'>;
  const reject = ({ file, line }: Contact, { column, reason, detail }: Rejection): void => {
    counts[reason]++;
    if (rejected.length >= maxRejected) return;
    rejected.push({ file: nameOf(file), line, column, reason, detail: formatReason(detail) });
  };
  const take = (contact: Contact): void => {
    if (contact.kind === 'rejected') {
      reject(contact, contact);
      return;
    }
    const { file, line, address, envelope } = contact;
    const { recipientColumn: column } = composition;
    const compared = comparedAddress(address);
    const suppressed = whyLeftOut(compared, envelope.fields['SubAccount'] ?? '');
    if (suppressed !== undefined) {
      reject(contact, { column, reason: 'suppressed', detail: suppressed });
      return;
    }
    const whyReached = reachedBefore.findReachedReason(compared, contact.key);
    if (whyReached !== undefined) {
      reject(contact, { column, reason: 'duplicate', detail: whyReached });
      return;
    }
    const lineOfAll = linesBefore(file) + line;
    const detail = firsts.findDuplicate(contact, compared, lineOfAll);
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
    if (messages.length < maxMessages) {
      const held = contact.zones === undefined ? undefined : planWindow?.(contact.zones.split(','));
      const fields = { ...envelope.fields, ...held?.handover?.fields };
      messages.push({
        ...{ file: nameOf(file), line, destination },
        ...{ ...envelope, fields, text: sms?.text ?? null },
      });
    }
  };

  const fingerprint = createFingerprint(campaign.value);
  let told = false;
  for await (const batch of context.ledger ? fingerprint.watch(contacts) : contacts) {
    counts.read += batch.length;
    await reachedBefore.readOrigins(found().origins);
    for (const contact of batch) take(contact);
    const kept = firsts.bytes() + planned.bytes();
    if (kept < largeBytes || told) continue;
    told = true;
    context.onLarge?.(Math.ceil(kept / Math.max(1, counts.read - counts.invalid)));
  }

  await reachedBefore.readOrigins(found().origins);
  const totals = planned.totals();
  const recipients = planned.recipients();
  const repeated = firsts.repeated();
  const reached = reachedBefore.counts();
  checkRecipients(campaign, found(), { ...counts, reached, repeated, recipients }, placeOf);
  const cost = estimateCost(totals, channel, tariffs.rates(), now);
  checkBudget(campaign, cost);
  const portions = planned.portions(dispatch.chunkSize);
  for (const { zones } of portions)
    leaving.addFields(Object.keys((zones.length > 0 && planWindow?.(zones).handover?.fields) || {}));
  const rates = { limits: await readLimitsInForce(context, account), from: now };
  const forecast = forecastRun(campaign.value, account, rates, portions, placeOf);
  requireDeadlineMet(campaign, forecast);
  const relatives = reachedBefore.origins().relatives.map(({ run }) => run);
  const previewed = { fingerprint, readFile: files.read, now, relatives };
  const repeats =
    context.ledger && (await findRepeatInPreview(context.ledger.pool, campaign.value, previewed));
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    contacts: counts,
    filtered: composition.filter ? found().filtered : null,
    mapping: composition.mapping,
    sentFields: leaving.found(),
    recipients,
    differing: formatDiffering(repeated, placeOf) ?? null,
    repeats: repeats ?? null,
    requests: planned.requests(dispatch.chunkSize),
    envelopes: planned.envelopes(),
    merge: composition.merge,
    smsParts: readSms ? totals.reduce((sum, { parts }) => sum + (parts ?? 0), 0) : null,
    cost,
    forecast,
    pastSendTimes: pastTimes.found(),
    bidiControls: turnedTexts.found(),
    removedMarks: removedMarks?.found() ?? { recipients: 0, marks: [], examples: [] },
    invalidBecause: found().causes,
    rejected,
    unreadableSuppressions: suppressionLists.unreadable(),
    origins: formatOrigins(reachedBefore.origins(), reached),
    ledger: context.ledger ? 'read' : 'not read',
    messages,
  };
}

function formatOrigins({ runs, others }: Origins, reached: readonly ReachedContacts[]): Preview['origins'] {
  if (runs.length + others.length === 0) return null;
  return {
    runs,
    others,
    reached: reached.map(({ rows, detail }) => ({ rows, detail: formatReason(detail) })),
  };
}
