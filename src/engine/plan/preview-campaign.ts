import { checkBudget } from '../../campaign/budget.ts';
import { campaignWarnings } from '../../campaign/campaign.ts';
import { estimateCost, sumParts } from '../../campaign/cost.ts';
import { formatDiffering } from '../../campaign/recipient-guards.ts';
import { similarPayerWarnings } from '../../campaign/similar-payers.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import type { RejectedContact } from '../../domain/contacts.ts';
import { formatReason } from '../../domain/reasons.ts';
import type { CappedContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { Ledger } from '../../ledger/connection.ts';
import { decideContacts } from '../../ledger/planning/decide.ts';
import { type Decided, withRest } from '../../ledger/planning/planned-run.ts';
import {
  listLeftOut,
  listRejected,
  listSentFiles,
  type RejectedLine,
  streamSentRows,
} from '../../ledger/planning/read-decided.ts';
import { inOwnSession, inTransactionOf, type Transaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { createNoteReader } from './contact-notes.ts';
import { readUnreadFiles } from './fingerprint.ts';
import { forecastDecided, type RunForecast } from './forecast.ts';
import { readPlannedGuard } from './guard-notes.ts';
import type { Origins } from './origins.ts';
import { type PlanFacts, readPlanFacts } from './plan-facts.ts';
import { wholeCanaryWarnings } from './plan-notes.ts';
import { checkDecided } from './plan-run.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { previewVariants } from './preview-variants.ts';
import { type DecidedCampaign, readPreviewedContacts } from './previewed-contacts.ts';
import { findRepeatInPreview, findUnfinishedRuns } from './repeat-check.ts';
import type { RowChoice } from './row-choice.ts';
import { stageCampaign } from './stage-campaign.ts';
import { variantWarnings } from './variant-warnings.ts';

/** All are counted, only the first shown. */
const maxRejected = 20;

/** `scratch`: a database for temporary tables, where there is no ledger. */
export type PreviewContext = Pick<EngineContext, 'now'> &
  (Pick<EngineContext, 'ledger'> | { readonly scratch: Ledger['pool'] });

type PreviewOptions = {
  /** Called for each batch of contacts. */
  readonly onRead?: (contacts: number) => void;
  /** Called with what a run would send. */
  readonly onFacts?: (facts: PlanFacts) => void;
  /** Called in the transaction that decided what a run would send, with when it would end. */
  readonly onDecided?: (client: Transaction, decided: DecidedPlan) => Promise<void>;
  /** Called with the first contacts that are left out for each reason. */
  readonly onLeftOut?: (contacts: readonly LeftOutContact[]) => void;
  /** The rows that a page shows. */
  readonly rows?: RowChoice | undefined;
};

export type DecidedPlan = {
  readonly forecast: RunForecast;
  readonly now: Date;
  readonly readsLedger: boolean;
};

/** `ofReason`: how many are left out for its reason, in its column. */
export type LeftOutContact = RejectedContact & { readonly ofReason: number };

/** So many contacts of each reason. */
export const maxLeftOut = 100;

/**
 * Decides what a run would send, as a run does, in temporary tables of a session that ends with it. Postgres refuses any
 * other change.
 *
 * @param context without a ledger, only the campaign's own suppression lists are read
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, has a budget and an unknown cost, or would miss a deadline
 */
export async function previewCampaign(
  prepared: PreparedCampaign,
  context: PreviewContext,
  options: PreviewOptions = {},
): Promise<Preview> {
  const { campaign, account } = prepared;
  const { channel } = campaign.value;
  const now = context.now();
  const [ledger, pool] =
    'ledger' in context ? [context.ledger, context.ledger.pool] : [null, context.scratch];
  const tariffs = createTariffs(channel, account);
  return inOwnSession(pool, async (session) => {
    const staged = await stageCampaign(session, prepared, {
      now,
      readsLedger: ledger !== null,
      onRead: options.onRead,
      tariffOf: tariffs.tariffIndexOf,
      takePieces: async () => [],
      readNote: createNoteReader(prepared, now, options.rows),
    });
    const rules = {
      ...staged.rules,
      account: account.name,
      suppressionAccount: account.suppressionsOf,
      channel,
      rates: tariffs.rates(),
    };
    const read = (client: Transaction): Promise<Preview> =>
      readPreview(client, { prepared, ledger, now, staged, rules, ...options });
    return inTransactionOf(session, read, 'BEGIN READ ONLY');
  });
}

type Previewing = DecidedCampaign & PreviewOptions & { readonly ledger: Ledger | null };

async function readPreview(client: Transaction, previewing: Previewing): Promise<Preview> {
  const { prepared, ledger, now, staged, rules, onFacts, onDecided, onLeftOut } = previewing;
  const { campaign, composition, contactFiles, found } = prepared;
  const { fileAndLine } = staged;
  const definition = campaign.value;
  const decided = await decideContacts(client, rules, ledger);
  checkDecided(prepared, decided, fileAndLine);
  const cost = estimateCost(withRest(decided).totals, rules.channel, rules.rates, now);
  checkBudget(campaign, cost);
  const readsLedger = ledger !== null;
  const { windowTotals, forecast } = await forecastDecided(client, prepared, staged, { now, readsLedger });
  if (onFacts) {
    await readUnreadFiles(staged.fingerprint, await listSentFiles(client), prepared.files.read);
    onFacts(await readPlanFacts(client, { prepared, staged, decided, cost, windowTotals }));
  }
  await onDecided?.(client, { forecast, now, readsLedger });
  if (onLeftOut)
    onLeftOut(
      (await listLeftOut(client, rules, maxLeftOut)).map(({ ofReason, ...each }) => ({
        ...placed(each, staged),
        ofReason,
      })),
    );
  await chooseRows(client, previewing);
  const { account, channel } = rules;
  const { contacts, recipients, requests, envelopes, totals, repeated, reached, capped } = decided;
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel: rules.channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    contacts,
    rejected: await listFirstRejected(client, previewing),
    filtered: composition.filter ? found().filtered : null,
    mapping: composition.mapping,
    recipients,
    variants: await previewVariants(client, prepared, rules, decided, now),
    differing: formatDiffering(repeated, fileAndLine) ?? null,
    ...(await findEarlierRuns(client, previewing, decided)),
    requests,
    canary: decided.canary,
    guard: await readPlannedGuard(
      client,
      definition,
      ledger && { campaign: definition.campaign, account, channel, createdAt: now },
    ),
    envelopes,
    merge: composition.merge,
    smsParts: sumParts(totals, rules.channel),
    cost,
    forecast,
    ...(await readPreviewedContacts(client, previewing, windowTotals)),
    capped: capped.map(inWords),
    invalidBecause: found().causes,
    warnings: listWarnings(prepared, decided, now),
    unreadableSuppressions: prepared.suppressionLists.unreadable(),
    origins: formatOrigins(staged.origins, reached),
    test: prepared.test ?? null,
    ledger: ledger ? 'read' : 'not read',
  };
}

/** Earlier runs that this one would repeat, or that can still send. */
async function findEarlierRuns(
  client: Transaction,
  { prepared, ledger, now, staged }: Previewing,
  { beyondLimit }: Decided,
): Promise<Pick<Preview, 'repeats' | 'unfinished'>> {
  if (!ledger || prepared.test) return { repeats: null, unfinished: null };
  const definition = prepared.campaign.value;
  const relatives = staged.origins.relatives.map(({ run }) => run);
  const repeats = await findRepeatInPreview(client, definition, {
    fingerprint: staged.fingerprint,
    marks: ledger.marks,
    account: prepared.account,
    files: prepared.files,
    sentFiles: await listSentFiles(client),
    filesBeyondLimit: beyondLimit?.files ?? [],
    now,
    relatives,
  });
  return {
    repeats: repeats ?? null,
    unfinished: repeats ? null : await findUnfinishedRuns(client, definition.campaign, relatives),
  };
}

async function listFirstRejected(
  client: Transaction,
  { rules, staged }: Previewing,
): Promise<Preview['rejected']> {
  const rejected = await listRejected(client, rules, { limit: maxRejected, noted: false });
  return rejected.map((each) => placed(each, staged));
}

function placed(
  { line: lineOfAll, column, reason, detail }: Omit<RejectedLine, 'row'>,
  { placeOf }: DecidedCampaign['staged'],
): RejectedContact {
  const { file, line } = placeOf(lineOfAll);
  return { file, line, column, reason, detail: formatReason(detail) };
}

async function chooseRows(client: Transaction, { rows, rules, staged }: Previewing): Promise<void> {
  if (!rows) return;
  for await (const batch of streamSentRows(client))
    for (const contact of batch) rows.add(contact, staged.placeOf(contact.line));
  for (const rejected of await listRejected(client, rules, { limit: null, noted: true }))
    rows.reject(rejected, staged.placeOf(rejected.line));
}

function listWarnings(prepared: PreparedCampaign, decided: Decided, now: Date): string[] {
  const { campaign, account, found } = prepared;
  return [
    ...found().warnings,
    ...similarPayerWarnings(decided.totals),
    ...[...campaignWarnings(campaign, account, now), ...variantWarnings(campaign, account)].map(
      ({ where, what }) => `${where}: ${what}`,
    ),
    ...wholeCanaryWarnings(prepared, decided),
  ];
}

function formatOrigins({ runs, others }: Origins, reached: readonly ReachedContacts[]): Preview['origins'] {
  if (runs.length + others.length === 0) return null;
  return {
    runs,
    others,
    reached: reached.map(inWords),
  };
}

function inWords({ rows, detail }: ReachedContacts | CappedContacts) {
  return { rows, detail: formatReason(detail) };
}
