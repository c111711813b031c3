import { checkBudget } from '../../campaign/budget.ts';
import type { CostEstimate } from '../../campaign/cost.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients, formatDiffering } from '../../campaign/recipient-guards.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import { InputError, type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import type { ReachedContacts } from '../../domain/rejected-contacts.ts';
import { insertNotifyList, insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import type { Decided } from '../../ledger/planning/planned-run.ts';
import { recordFingerprint } from '../../ledger/runs/repeats.ts';
import { insertRest } from '../../ledger/watch/rests.ts';
import type { EngineContext } from '../context.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { type BroughtList, freezeDefinition } from './brought-list.ts';
import { refusePartOfRest } from './caps.ts';
import { forecastDecided, type RunForecast } from './forecast.ts';
import { type AlongsideRun, type Making, makeRun, type RunToMake, type StagedRun } from './make-run.ts';
import type { Origins } from './origins.ts';
import type { ProvablePlan } from './plan-file.ts';
import { wholeCanaryWarnings } from './plan-notes.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { type DecidedPlan, provePlan } from './prove-plan.ts';
import { findEarlierRuns, readFingerprint } from './repeat-check.ts';
import { type StagedCampaign, stageCampaign } from './stage-campaign.ts';
import { refuseSuppressedTest } from './test-recipients.ts';

export type PlanOptions = {
  /** Allows the run to repeat a recent one. */
  readonly again?: boolean;
  /** The same for the run that this says, which the operator has read. */
  readonly seenRepeat?: string | null;
  readonly alongside?: AlongsideRun;
  /** Called before the commit with what the run sends, and the paths of its files; by throwing it prevents the run. */
  readonly proof?: {
    readonly id: string;
    readonly check: (proved: ProvablePlan, files: Iterable<string>) => void;
  };
  readonly events?: PlanEvents;
  /** Called when a rule about contacts refuses the run; `addRefusalNotifications` by default. */
  readonly onRefused?: (refused: RefusedRun) => Promise<unknown>;
};

export type PlanEvents = {
  /** Called for each batch. */
  readonly onRead?: (contacts: number) => void;
  readonly onExpand?: () => void;
  /** Called once, before the commit. */
  readonly onFound?: (found: PlanFindings) => unknown;
};

/** What the operator should know of a new run. */
export type PlanFindings = Pick<Decided, 'capped' | 'beyondLimit'> & {
  /** Of fixed contacts, with what they may have reached. */
  readonly origins: Origins & { readonly reached: readonly ReachedContacts[] };
  /** A sentence about duplicates that are rejected, and differ. */
  readonly differing: string | undefined;
  /** Sentences without a full stop. */
  readonly warnings: readonly string[];
  /** A warning about earlier runs of the campaign that can still send. */
  readonly unfinished: string | null;
  /** Of a campaign with a deadline. */
  readonly forecast: RunForecast | undefined;
};

/**
 * Imports contacts and expands them into a planned run. A crash leaves nothing behind.
 *
 * @param prepared keeps its contact files
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, miss a deadline, or repeat another run
 */
export async function planRun(
  context: EngineContext,
  prepared: PreparedCampaign,
  options: PlanOptions = {},
): Promise<string> {
  await requireSendableLedger(context);
  try {
    return await makeRun(context, toRun(context, prepared, options));
  } catch (error) {
    const { onRefused = (refused) => addRefusalNotifications(context, prepared, refused) } = options;
    if (error instanceof RefusedRunError) await onRefused(error.refused);
    throw error;
  }
}

/** Adds a notification per `notify` target. @returns their ids */
export function addRefusalNotifications(
  { ledger, now }: EngineContext,
  { campaign, absolutePath: campaignFile }: PreparedCampaign,
  refused: RefusedRun,
): Promise<readonly string[]> {
  const targets = freezeTargets(campaign.value);
  return insertRefusedRunNotifications(ledger.pool, targets, { refused, campaignFile }, now());
}

function toRun(context: EngineContext, prepared: PreparedCampaign, options: PlanOptions): RunToMake {
  const { campaign, account, contactFiles, kept, files, test } = prepared;
  const { events = {}, alongside } = options;
  const definition = campaign.value;
  return {
    campaign: definition.campaign,
    channel: definition.channel,
    definition: freezeDefinition(definition, prepared.list ?? formerList(prepared)),
    account,
    approval: {
      // The rest was approved with the run that it is of.
      rule: prepared.winner === undefined ? definition.approval : undefined,
      folder: prepared.workingFolder,
      campaignFile: prepared.path,
      campaignSha256: prepared.sha256,
    },
    alongside,
    stage: async (client, making) => {
      const staged = await stageCampaign(client, prepared, {
        now: making.now,
        readsLedger: true,
        onRead: events.onRead,
        tariffOf: making.tariffs.tariffIndexOf,
        // The files are kept to report and send their other rows, which a test does not have.
        takePieces: test ? async () => [] : kept.takeCompletePieces,
      });
      events.onExpand?.();
      const { rules, fingerprint } = staged;
      return {
        ...rules,
        kind: test ? 'test' : 'ordinary',
        contactFiles: contactFiles.map(({ name, format }, file) => ({
          name,
          linesBefore: rules.contactFiles[file]?.linesBefore ?? 0,
          ...readingOf(format()),
          sha256: kept.digestOf(file),
        })),
        files:
          fingerprint.paths().size === 0
            ? { kind: 'none' }
            : { kind: 'read', readFile: fingerprint.watchFiles(files.read) },
        ...stepsOf({ context, prepared, staged, ...making }, options),
      };
    },
  };
}

/** The list that a person brought for the former run. */
function formerList({ former }: PreparedCampaign): Pick<BroughtList, 'name' | 'columns'> | undefined {
  const [file] = former?.files ?? [];
  return file?.columns ? { name: file.name, columns: file.columns } : undefined;
}

/** How a contact file was read. */
function readingOf(read: ReturnType<ContactFile['format']>) {
  const { encoding, delimiter } = read.kind === 'csv' ? read : { encoding: null, delimiter: null };
  return {
    encoding,
    delimiter,
    sheet: read.kind === 'workbook' ? read.sheet : null,
    skipLines: read.skipLines,
  };
}

type Planning = Making & {
  readonly context: EngineContext;
  readonly prepared: PreparedCampaign;
  readonly staged: StagedCampaign;
};

/** The checks and records of a new run, in its transaction. */
function stepsOf(
  { context, prepared, staged, now, run }: Planning,
  { again = false, seenRepeat, proof, events = {} }: PlanOptions,
): Pick<StagedRun, 'check' | 'details' | 'recordTargets' | 'complete'> {
  const { campaign, test, list, kept } = prepared;
  const definition = campaign.value;
  const { origins, fileAndLine } = staged;
  let plan: DecidedPlan | undefined;
  let found: PlanFindings | undefined;
  return {
    check: async (client, decided, cost) => {
      checkDecided(prepared, decided, cost, fileAndLine);
      const isForecast = definition.deadline !== undefined || proof !== undefined;
      const { windowTotals, forecast } = isForecast
        ? await forecastDecided(client, prepared, staged, { now, readsLedger: true })
        : { windowTotals: [], forecast: undefined };
      plan = { prepared, staged, decided, cost, windowTotals };
      found = {
        ...decided,
        origins: { ...origins, reached: decided.reached },
        differing: formatDiffering(decided.repeated, fileAndLine),
        warnings: wholeCanaryWarnings(prepared, decided),
        unfinished: null,
        forecast,
      };
    },
    details: {
      campaign: definition.campaign,
      file: prepared.path,
      ...(list && { list: list.name }),
      // A test reads only its beginning.
      ...(list && !test && { bytes: kept.bytesRead(), sha256: kept.digestOf(0).toString('hex') }),
      ...(origins.runs.length > 0 && { of: origins.runs }),
      ...(test && { test: test.rows }),
      ...(prepared.winner !== undefined && { variant: prepared.winner }),
    },
    recordTargets: (session) =>
      insertNotifyList(session, run, freezeTargets(definition), prepared.absolutePath),
    complete: async (session) => {
      if (!plan || !found) throw new Error('A run is checked before it is complete.');
      if (proof) proof.check(await provePlan(session, proof.id, plan), staged.fingerprint.files().keys());
      if (plan.decided.rest.length > 0)
        await insertRest(session, run, { campaignFile: prepared.absolutePath, source: prepared.source });
      // Its own addresses have no part in what recipients got.
      if (test) {
        events.onFound?.(found);
        return;
      }
      const fingerprint = await readFingerprint(session, plan);
      await recordFingerprint(session, run, fingerprint);
      const compared = again ? undefined : fingerprint;
      const { marks } = context.ledger;
      const earlier = await findEarlierRuns(session, plan, { run, fingerprint: compared, marks, now });
      const { repeated, unfinished } = earlier;
      if (repeated && !seenRepeat?.includes(repeated.run))
        throw new InputError([{ where: campaign.locate(['campaign']), what: repeated.what }]);
      events.onFound?.({ ...found, unfinished });
    },
  };
}

/**
 * Checks what would be sent against the rules about contacts and the budget, of a plan and of a run.
 *
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when an address of a test is suppressed, or the budget is exceeded
 */
export function checkDecided(
  prepared: Pick<PreparedCampaign, 'campaign' | 'account' | 'test' | 'winner' | 'found'>,
  decided: Decided,
  cost: CostEstimate,
  fileAndLine: (line: number) => string,
): void {
  const { campaign, test, winner, found } = prepared;
  const { contacts, recipients, beyondLimit, suppressedReasons, capped, reached, repeated } = decided;
  if (test) refuseSuppressedTest(suppressedReasons.map(formatReason));
  if (winner === undefined) {
    // The rules are about the files, of which a limit is only the first part.
    const inFiles = recipients + (beyondLimit?.contacts ?? 0);
    const planned = { ...contacts, recipients: inFiles, capped, reached, repeated };
    checkRecipients(campaign, found(), planned, fileAndLine);
  } else {
    // Those rules are about the whole list, which the run of the variants had.
    refusePartOfRest(prepared, decided);
  }
  checkBudget(campaign, cost);
}
