import { checkBudget } from '../../campaign/budget.ts';
import { campaignWarnings } from '../../campaign/campaign.ts';
import { type CostTotal, estimateCost } from '../../campaign/cost.ts';
import { checkRecipients, formatDiffering } from '../../campaign/recipient-guards.ts';
import { similarPayerWarnings } from '../../campaign/similar-payers.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { concatenateFirstBatches } from '../../contacts/concatenate-first-batches.ts';
import { originColumn } from '../../contacts/result-file.ts';
import { comparedAddress } from '../../domain/compared-address.ts';
import type { Contact, RejectedContact } from '../../domain/contacts.ts';
import type { LeftOutDigest, ReachedContacts } from '../../domain/rejected-contacts.ts';
import { formatReason } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { createFilePaths } from './file-paths.ts';
import { createFingerprint, type Fingerprint, readUnreadFiles } from './fingerprint.ts';
import { forecastRun, readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import { createLeftOutDigest } from './left-out-digest.ts';
import { countLinesBefore, createFileAndLineFormatter } from './line-numbers.ts';
import type { Origins } from './origins.ts';
import { countPastSendTimes, watchPastSendTimes } from './past-send-times.ts';
import { type FactSources, type PlanFacts, toPlanFacts } from './plan-facts.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { createMessageCollector, type MessageCollector } from './preview-messages.ts';
import { createRejectionFinder, type Rejection, type RejectionFinder } from './preview-rejections.ts';
import { originRows } from './reached-finder.ts';
import { findRepeatInPreview, findUnfinishedRuns } from './repeat-check.ts';
import type { RowChoice } from './row-choice.ts';
import { refuseSuppressedTest } from './test-recipients.ts';

/** All are counted, only the first shown. */
const maxRejected = 20;

export type PreviewContext = Pick<EngineContext, 'now'> &
  Partial<Pick<EngineContext, 'ledger'>> & {
    /** Called once, when the counts need more than 32 MiB. */
    readonly onLarge?: (bytesPerAddress: number) => void;
    /** Called with what a run would send. */
    readonly onFacts?: (facts: PlanFacts) => void;
    /** Sees every contact. */
    readonly rows?: RowChoice | undefined;
  };

const largeBytes = 32 * 1024 * 1024;

/**
 * Memory grows with the number of addresses: about 25 bytes each, 50 with an envelope of its own, and more when
 * suppressed.
 *
 * @param context without a ledger, only the campaign's own suppression lists are read
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, has a budget and an unknown cost, or would miss a deadline
 */
export async function previewCampaign(prepared: PreparedCampaign, context: PreviewContext): Promise<Preview> {
  const { campaign, account, composition, contactFiles, found, files } = prepared;
  const { channel, dispatch } = campaign.value;
  const now = context.now();
  const linesBefore = countLinesBefore(contactFiles);
  const fileAndLine = createFileAndLineFormatter(contactFiles, linesBefore);
  const tariffs = createTariffs(channel, account);
  const messages = createMessageCollector(prepared, tariffs, fileAndLine, now, context.rows);
  const rejections = await createRejectionFinder(prepared, context, linesBefore);
  const fingerprint = createFingerprint(campaign.value);
  const pastSendTimes = countPastSendTimes(campaign.value.message, now);
  const contacts = context.onFacts ? watchPastSendTimes(prepared.contacts, pastSendTimes) : prepared.contacts;
  const read = await readAll({ ...prepared, contacts }, context, {
    fingerprint,
    rejections,
    messages,
    linesBefore,
  });

  const { counts } = messages;
  const { leftOut, sentFiles, filesBeyondLimit, ...shown } = read;
  const repeated = rejections.duplicates.repeated();
  const reached = rejections.reached.counts();
  const recipients = counts.recipients();
  const inFiles = { ...read.contacts, recipients: recipients + (read.contacts.beyondLimit ?? 0) };
  checkRecipients(campaign, found(), { ...inFiles, reached, repeated }, fileAndLine);
  const totals = counts.totals();
  const cost = estimateCost(totals, channel, tariffs.rates(), now);
  checkBudget(campaign, cost);
  const windowTotals = counts.windowTotals(dispatch.chunkSize);
  const rates = { limits: await readLimitsInForce(context, account), from: now };
  const forecast = forecastRun(campaign.value, account, { ...rates, windowTotals, fileAndLine });
  requireDeadlineMet(campaign, forecast);
  const origins = rejections.reached.origins();
  const relatives = origins.relatives.map(({ run }) => run);
  const previewed = { fingerprint, files, sentFiles, filesBeyondLimit, now, relatives, account };
  const repeats =
    context.ledger &&
    !prepared.test &&
    (await findRepeatInPreview(context.ledger, campaign.value, previewed));
  const unfinished =
    context.ledger && !prepared.test && !repeats
      ? await findUnfinishedRuns(context.ledger.pool, campaign.value.campaign, relatives)
      : null;
  const { beyondLimit = null } = read.contacts;
  const sources = { found, fingerprint, pastSendTimes, leftOut, beyondLimit, totals, cost, windowTotals };
  await reportFacts(context, sources, sentFiles, files);
  return {
    campaign: campaign.value.campaign,
    account: campaign.value.account,
    channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    ...shown,
    filtered: composition.filter ? found().filtered : null,
    mapping: composition.mapping,
    recipients,
    differing: formatDiffering(repeated, fileAndLine) ?? null,
    repeats: repeats || null,
    unfinished,
    requests: counts.requests(dispatch.chunkSize),
    envelopes: counts.envelopes(),
    merge: composition.merge,
    smsParts: channel === 'sms' ? totals.reduce((sum, { parts }) => sum + (parts ?? 0), 0) : null,
    cost,
    forecast,
    ...messages.found(windowTotals),
    invalidBecause: found().causes,
    warnings: listWarnings(prepared, totals, now),
    unreadableSuppressions: prepared.suppressionLists.unreadable(),
    origins: formatOrigins(origins, reached),
    test: prepared.test ?? null,
    ledger: context.ledger ? 'read' : 'not read',
  };
}

function listWarnings(
  { campaign, found }: PreparedCampaign,
  totals: readonly CostTotal[],
  now: Date,
): string[] {
  return [
    ...found().warnings,
    ...similarPayerWarnings(totals),
    ...campaignWarnings(campaign, now).map(({ where, what }) => `${where}: ${what}`),
  ];
}

async function reportFacts(
  { onFacts }: Pick<PreviewContext, 'onFacts'>,
  sources: Omit<FactSources, 'attachments'>,
  sentFiles: ReadonlySet<string>,
  { read }: Pick<PreparedCampaign['files'], 'read'>,
): Promise<void> {
  if (!onFacts) return;
  const { fingerprint } = sources;
  await readUnreadFiles(fingerprint, sentFiles, read);
  const attachments = new Map([...fingerprint.files()].filter(([path]) => sentFiles.has(path)));
  onFacts(toPlanFacts({ ...sources, attachments }));
}

type ReadFacts = {
  readonly leftOut: LeftOutDigest;
  readonly sentFiles: ReadonlySet<string>;
  readonly filesBeyondLimit: ReadonlySet<string>;
};

async function readAll(
  { contacts, contactFiles, found, limit, test }: PreparedCampaign,
  context: PreviewContext,
  {
    fingerprint,
    rejections,
    messages,
    linesBefore,
  }: {
    readonly fingerprint: Fingerprint;
    readonly rejections: RejectionFinder;
    readonly messages: MessageCollector;
    readonly linesBefore: (file: number) => number;
  },
): Promise<Pick<Preview, 'contacts' | 'rejected'> & ReadFacts> {
  const counts = { read: 0, invalid: 0, duplicate: 0, suppressed: 0 };
  const leftOut = createLeftOutDigest();
  const [sent, beyondFiles] = [createFilePaths(), createFilePaths()];
  let accepted = 0;
  const rejected: RejectedContact[] = [];
  const reject = (contact: Contact, rejection: Rejection): void => {
    const { file, line } = contact;
    const { column, reason, detail } = rejection;
    context.rows?.reject(contact, rejection);
    counts[reason]++;
    if (rejected.length >= maxRejected) return;
    const name = contactFiles[file]?.name ?? '';
    rejected.push({ file: name, line, column, reason, detail: formatReason(detail) });
  };
  let warned = false;
  const namesRuns = contactFiles.some(({ header }) => header.includes(originColumn));
  const batches = namesRuns ? concatenateFirstBatches(contacts, originRows) : contacts;
  for await (const batch of context.ledger ? fingerprint.watch(batches) : batches) {
    counts.read += batch.length;
    await rejections.reached.readOrigins(found().origins);
    for (const contact of batch) {
      if (contact.kind === 'rejected') {
        reject(contact, contact);
        continue;
      }
      const compared = comparedAddress(contact.address);
      const rejection = rejections.find(contact, compared);
      const line = linesBefore(contact.file) + contact.line;
      if (rejection) {
        leftOut.add(line, rejection.detail);
        reject(contact, rejection);
        continue;
      }
      const isSent = ++accepted <= (limit ?? accepted);
      (isSent ? sent : beyondFiles).add(contact.envelope);
      if (isSent) messages.add(contact, compared, line);
      else context.rows?.skip();
    }
    const bytes = rejections.duplicates.bytes() + messages.counts.bytes();
    if (bytes < largeBytes || warned) continue;
    warned = true;
    context.onLarge?.(Math.ceil(bytes / Math.max(1, counts.read - counts.invalid)));
  }
  await rejections.reached.readOrigins(found().origins);
  if (test)
    refuseSuppressedTest(rejected.flatMap(({ reason, detail }) => (reason === 'suppressed' ? detail : [])));
  const beyond = limit === undefined ? {} : { beyondLimit: Math.max(0, accepted - limit) };
  return {
    contacts: { ...counts, ...beyond },
    rejected,
    leftOut: leftOut.digest(),
    sentFiles: sent.paths,
    filesBeyondLimit: beyondFiles.paths,
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
