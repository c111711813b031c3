import { checkBudget } from '../../campaign/budget.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients } from '../../campaign/recipient-guards.ts';
import { formatReason } from '../../domain/reasons.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import { insertNotifyList } from '../../ledger/notifications/notify-lists.ts';
import type { Decided, PlannedRun } from '../../ledger/planning/planned-run.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import { recordFingerprint } from '../../ledger/runs/fingerprints.ts';
import type { EngineContext } from '../context.ts';
import { serviceOf } from '../dispatch/begun-runs.ts';
import { readUnreadFiles } from './fingerprint.ts';
import { forecastRun, type RunForecast, type readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import type { AlongsideRun, Making, StagedRun } from './make-run.ts';
import type { Origins } from './origins.ts';
import { type FactSources, type PlanFacts, readPlanFacts } from './plan-facts.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { findUnfinishedRuns, refuseRepeat } from './repeat-check.ts';
import type { StagedCampaign } from './stage-campaign.ts';
import { refuseSuppressedTest } from './test-recipients.ts';

export type StepOptions = {
  /** Allows the run to repeat a recent one. */
  readonly again?: boolean;
  readonly alongside?: AlongsideRun;
  /** Called before the commit with what the run sends; by throwing it prevents the run. */
  readonly onFacts?: ((facts: PlanFacts) => void) | undefined;
};

export type PlanProgress = {
  /** Called for each batch. */
  readonly onRead?: (contacts: number) => void;
  readonly onExpand?: () => void;
  /** Called with the origins of fixed contacts, and what they may have reached. */
  readonly onOrigins?: (origins: Origins, reached: readonly ReachedContacts[]) => void;
  /** Called with the duplicates that are rejected. */
  readonly onRepeated?: (repeated: DuplicateContacts, fileAndLine: (line: number) => string) => void;
  /** Called with the rows that a limit leaves for a later run. */
  readonly onBeyondLimit?: (rows: number) => void;
  /** Called with a warning about earlier runs of the campaign that can still send. */
  readonly onUnfinished?: (warning: string) => void;
  readonly onForecast?: (forecast: RunForecast) => void;
};

/** A campaign whose run is made. */
export type Planning = Omit<Making, 'tariffs'> & {
  readonly context: EngineContext;
  readonly prepared: PreparedCampaign;
  readonly staged: StagedCampaign;
  readonly progress: PlanProgress;
  readonly limits: Awaited<ReturnType<typeof readLimitsInForce>>;
};

type PlanStep = 'checkForecast' | 'check' | 'details' | 'recordTargets' | 'complete';

/** The checks and records of a new run, in its transaction. */
export function planSteps(
  { context, prepared, staged, progress, now, run, limits }: Planning,
  { again = false, onFacts }: Omit<StepOptions, 'alongside'>,
): Pick<StagedRun, PlanStep> {
  const { campaign, account } = prepared;
  const definition = campaign.value;
  const { origins, fingerprint, fileAndLine } = staged;
  const test = prepared.test ? { test: prepared.test.rows } : {};
  const of = origins.runs.length > 0 ? { of: origins.runs } : {};
  let known: Pick<FactSources, 'decided' | 'cost'> | undefined;
  let windowTotals: readonly WindowTotals[] = [];
  const checkForecast: PlannedRun['checkForecast'] = (totals) => {
    windowTotals = totals;
    const forecast = forecastRun(definition, account, {
      limits,
      from: now,
      windowTotals,
      fileAndLine,
    });
    requireDeadlineMet(campaign, forecast);
    progress.onForecast?.(forecast);
  };
  return {
    checkForecast: definition.deadline === undefined && !onFacts ? undefined : checkForecast,
    check: (decided, cost) => {
      known = { decided, cost };
      const { reached, repeated, beyondLimit } = decided;
      if (origins.runs.length + origins.others.length > 0) progress.onOrigins?.(origins, reached);
      checkDecided(prepared, decided, fileAndLine);
      progress.onRepeated?.(repeated, fileAndLine);
      if (beyondLimit !== null) progress.onBeyondLimit?.(beyondLimit.contacts);
      checkBudget(campaign, cost);
    },
    details: { campaign: definition.campaign, file: prepared.path, ...of, ...test },
    recordTargets: (session) =>
      insertNotifyList(session, run, freezeTargets(definition), prepared.absolutePath),
    complete: async (session) => {
      if (!known) throw new Error('A run is checked before it is complete.');
      if (onFacts) onFacts(await readPlanFacts(session, { prepared, staged, windowTotals, ...known }));
      // Its own addresses have no part in what recipients got.
      if (prepared.test) return;
      // A later run without the limit is a repetition, so its files count too.
      const beyondLimit = known.decided.beyondLimit?.files ?? [];
      await readUnreadFiles(fingerprint, beyondLimit, prepared.files.readUnstored);
      const relatives = origins.relatives.map((each) => each.run);
      const { marks } = context.ledger;
      const sent = fingerprint.digest();
      const made = { run, fingerprint: sent, now, relatives, marks, service: serviceOf(account) };
      await recordFingerprint(session, run, made.fingerprint);
      if (!again) await refuseRepeat(session, campaign, made);
      const unfinished = await findUnfinishedRuns(session, definition.campaign, [run, ...relatives]);
      if (unfinished !== null) progress.onUnfinished?.(unfinished);
    },
  };
}

/**
 * The rules about contacts, of a plan and of a run.
 *
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when an address of a test is suppressed
 */
export function checkDecided(
  { campaign, test, found }: Pick<PreparedCampaign, 'campaign' | 'test' | 'found'>,
  { contacts, recipients, beyondLimit, suppressedBecause, reached, repeated }: Decided,
  fileAndLine: (line: number) => string,
): void {
  if (test) refuseSuppressedTest(suppressedBecause.map(formatReason));
  // The rules are about the files, of which a limit is only the first part.
  const inFiles = recipients + (beyondLimit?.contacts ?? 0);
  checkRecipients(campaign, found(), { ...contacts, recipients: inFiles, reached, repeated }, fileAndLine);
}
