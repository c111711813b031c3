import { campaignWarnings } from '../../campaign/campaign.ts';
import { similarPayerWarnings } from '../../campaign/charge-codes.ts';
import { estimateCost, sumParts } from '../../campaign/cost.ts';
import { formatDiffering } from '../../campaign/recipient-guards.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import type { RejectedContact } from '../../domain/contacts.ts';
import { formatReason } from '../../domain/reasons.ts';
import type { CappedContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { Ledger } from '../../ledger/connection.ts';
import { decideContacts } from '../../ledger/planning/decide.ts';
import { type Decided, type PlanRules, withRest } from '../../ledger/planning/planned-run.ts';
import {
  listLeftOut,
  listRejected,
  type RejectedLine,
  streamSentRows,
} from '../../ledger/planning/read-decided.ts';
import { inOwnSession, inTransactionOf, type Transaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { createNoteReader } from './contact-notes.ts';
import { forecastDecided } from './forecast.ts';
import { readPlannedGuard } from './guard-notes.ts';
import type { Origins } from './origins.ts';
import { wholeCanaryWarnings } from './plan-notes.ts';
import { checkDecided } from './plan-run.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { previewVariants } from './preview-variants.ts';
import { readPreviewedContacts } from './previewed-contacts.ts';
import type { PreviewedPlan } from './prove-plan.ts';
import { findEarlierRuns, readFingerprint } from './repeat-check.ts';
import type { RowChoice } from './row-choice.ts';
import { type StagedCampaign, stageCampaign } from './stage-campaign.ts';
import { variantWarnings } from './variant-warnings.ts';

/** All are counted, only the first shown. */
const maxRejected = 20;

/** `scratch`: a database for temporary tables, where there is no ledger. */
export type PreviewContext = Pick<EngineContext, 'now'> &
  (Pick<EngineContext, 'ledger'> | { readonly scratch: Ledger['pool'] });

type PreviewOptions = {
  /** Called for each batch of contacts. */
  readonly onRead?: (contacts: number) => void;
  /** The rows that a page shows. */
  readonly rows?: RowChoice | undefined;
};

/** `ofReason`: how many are left out for its reason, in its column. */
export type LeftOutContact = RejectedContact & { readonly ofReason: number };

/** So many contacts of each reason. */
const maxLeftOut = 100;

/** Previews what `decidePlan` decides. */
export function previewCampaign(
  prepared: PreparedCampaign,
  context: PreviewContext,
  options: PreviewOptions = {},
): Promise<Preview> {
  return decidePlan(prepared, context, options, readPreview);
}

/**
 * Decides what a run would send, as a run does, in temporary tables of a session that ends with it. Postgres refuses any
 * other change.
 *
 * @param context without a ledger, only the campaign's own suppression lists are read
 * @param read in the transaction that decided
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, has a budget and an unknown cost, or would miss a deadline
 */
export async function decidePlan<Result>(
  prepared: PreparedCampaign,
  context: PreviewContext,
  { onRead, rows }: PreviewOptions,
  read: (client: Transaction, plan: PreviewedPlan) => Promise<Result>,
): Promise<Result> {
  const { campaign, account } = prepared;
  const { channel } = campaign.value;
  const now = context.now();
  const [ledger, pool] =
    'ledger' in context ? [context.ledger, context.ledger.pool] : [null, context.scratch];
  const readsLedger = ledger !== null;
  const tariffs = createTariffs(channel, account);
  return inOwnSession(pool, async (session) => {
    const staged = await stageCampaign(session, prepared, {
      now,
      readsLedger,
      onRead,
      tariffOf: tariffs.tariffIndexOf,
      takePieces: async () => [],
      readNote: createNoteReader(prepared, now, rows),
    });
    const rules = {
      ...staged.rules,
      account: account.name,
      suppressionAccount: account.suppressionsOf,
      channel,
      rates: tariffs.rates(),
    };
    const decide = async (client: Transaction): Promise<Result> => {
      const decided = await decideContacts(client, rules, ledger);
      const cost = estimateCost(withRest(decided).totals, channel, rules.rates, now);
      checkDecided(prepared, decided, cost, staged.fileAndLine);
      const found = await forecastDecided(client, prepared, staged, { now, readsLedger });
      return read(client, { prepared, staged, rules, decided, cost, ...found, now, ledger, rows });
    };
    return inTransactionOf(session, decide, 'BEGIN READ ONLY');
  });
}

/** Reads what a plan shows, and chooses the rows of a page. */
export async function readPreview(client: Transaction, plan: PreviewedPlan): Promise<Preview> {
  const { prepared, ledger, now, staged, rules, decided, cost, forecast } = plan;
  const { campaign, composition, contactFiles, found } = prepared;
  const definition = campaign.value;
  await chooseRows(client, plan);
  const { account, channel } = rules;
  const { contacts, recipients, requests, envelopes, totals, repeated, reached, capped } = decided;
  return {
    campaign: definition.campaign,
    account: definition.account,
    channel,
    files: contactFiles.map(({ name, format }) => ({ name, ...format() })),
    contacts,
    rejected: (await listRejected(client, rules, { limit: maxRejected, noted: false })).map((each) =>
      placed(each, staged.placeOf),
    ),
    filtered: composition.filter ? found().filtered : null,
    mapping: composition.mapping,
    recipients,
    variants: await previewVariants(client, prepared, rules, decided, now),
    differing: formatDiffering(repeated, staged.fileAndLine) ?? null,
    ...(await previewEarlierRuns(client, plan)),
    requests,
    canary: decided.canary,
    guard: await readPlannedGuard(
      client,
      definition,
      ledger && { campaign: definition.campaign, account, channel, createdAt: now },
    ),
    envelopes,
    merge: composition.merge,
    smsParts: sumParts(totals, channel),
    cost,
    forecast,
    ...(await readPreviewedContacts(client, plan)),
    capped: capped.map(inWords),
    invalidBecause: found().causes,
    warnings: listWarnings(prepared, decided, now),
    unreadableSuppressions: prepared.suppressionLists.unreadable(),
    origins: formatOrigins(staged.origins, reached),
    test: prepared.test ?? null,
    ledger: ledger ? 'read' : 'not read',
  };
}

/** The first contacts that are left out for each reason. */
export async function readLeftOut(
  client: Transaction,
  rules: PlanRules,
  placeOf: StagedCampaign['placeOf'],
): Promise<LeftOutContact[]> {
  const found = await listLeftOut(client, rules, maxLeftOut);
  return found.map(({ ofReason, ...each }) => ({ ...placed(each, placeOf), ofReason }));
}

function placed(
  { line: lineOfAll, column, reason, detail }: Omit<RejectedLine, 'row'>,
  placeOf: StagedCampaign['placeOf'],
): RejectedContact {
  const { file, line } = placeOf(lineOfAll);
  return { file, line, column, reason, detail: formatReason(detail) };
}

/** Earlier runs that this one would repeat, or that can still send. */
async function previewEarlierRuns(
  client: Transaction,
  plan: PreviewedPlan,
): Promise<Pick<Preview, 'repeats' | 'unfinished'>> {
  const { prepared, ledger, now } = plan;
  if (!ledger || prepared.test) return { repeats: null, unfinished: null };
  const mayRepeat = prepared.campaign.value.dispatch.repeat === 'allow';
  const { repeated, unfinished } = await findEarlierRuns(client, plan, {
    run: null,
    fingerprint: mayRepeat ? undefined : await readFingerprint(client, plan),
    marks: ledger.marks,
    now,
  });
  return { repeats: repeated?.what ?? null, unfinished: repeated ? null : unfinished };
}

async function chooseRows(client: Transaction, { rows, rules, staged }: PreviewedPlan): Promise<void> {
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
    ...[...campaignWarnings(campaign, account, now), ...variantWarnings(campaign)].map(
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
