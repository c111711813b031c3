import { checkBudget } from '../../campaign/budget.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients } from '../../campaign/recipient-guards.ts';
import { insertNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { digestLeftOut } from '../../ledger/planning/digest-left-out.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { recordFingerprint } from '../../ledger/runs/fingerprints.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { auditEntry } from '../audit.ts';
import { serviceOf } from '../dispatch/begun-runs.ts';
import { readUnreadFiles } from './fingerprint.ts';
import { forecastRun, requireDeadlineMet } from './forecast.ts';
import type { Origins } from './origins.ts';
import { type FactSources, type PlanFacts, toPlanFacts } from './plan-facts.ts';
import { findUnfinishedRuns, refuseRepeat } from './repeat-check.ts';
import type { Planning } from './start-planning.ts';
import { refuseSuppressedTest } from './test-recipients.ts';

export type StepOptions = {
  /** Allows the run to repeat a recent one. */
  readonly again?: boolean;
  /** Runs in the run's transaction. Its failure prevents the run. */
  readonly alongside?: (client: Parameters<PlannedRun['enqueue']>[0], run: string) => Promise<unknown>;
  /** Called before the commit with what the run sends; by throwing it prevents the run. */
  readonly onFacts?: ((facts: PlanFacts) => void) | undefined;
};

export type PlanStep = 'enqueue' | 'complete' | 'checkForecast' | 'checkPlan';

/** The checks and records of a new run, in its transaction. */
export function planSteps(
  {
    context,
    prepared,
    progress,
    definition,
    now,
    run,
    fileAndLine,
    limits,
    fingerprint,
    gate,
    ...planning
  }: Planning,
  origins: Origins,
  rates: PlannedRun['rates'],
  { again = false, alongside, onFacts }: StepOptions,
): Pick<PlannedRun, PlanStep> {
  const { campaign, account } = prepared;
  const noted = noteFacts();
  let filesBeyondLimit: readonly string[] = [];
  const checkForecast: PlannedRun['checkForecast'] = (windowTotals) => {
    const forecast = forecastRun(definition, account, { limits, from: now }, windowTotals, fileAndLine);
    noted.windowTotals = windowTotals;
    requireDeadlineMet(campaign, forecast);
    progress.onForecast?.(forecast);
  };
  return {
    checkForecast: definition.deadline === undefined && !onFacts ? undefined : checkForecast,
    checkPlan: (totals, rejected) => {
      if (prepared.test) refuseSuppressedTest(rejected.suppressedBecause.map(formatReason));
      const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
      if (origins.runs.length + origins.others.length > 0) progress.onOrigins?.(origins, rejected.reached);
      // The rules are about the files, of which a limit is only the first part.
      const inFiles = { ...rejected, recipients: recipients + (rejected.beyondLimit?.contacts ?? 0) };
      checkRecipients(campaign, prepared.found(), inFiles, fileAndLine);
      progress.onRepeated?.(rejected.repeated, fileAndLine);
      if (rejected.beyondLimit !== null) progress.onBeyondLimit?.(rejected.beyondLimit.contacts);
      filesBeyondLimit = rejected.beyondLimit?.files ?? [];
      const estimate = estimateCost(totals, definition.channel, rates, now);
      Object.assign(noted, { totals, cost: estimate, beyondLimit: rejected.beyondLimit?.contacts ?? null });
      checkBudget(campaign, estimate);
      gate.assess(totals, estimate);
    },
    enqueue: async (session) => {
      await alongside?.(session, run);
      const test = prepared.test ? { test: prepared.test.rows } : {};
      const of = origins.runs.length > 0 ? { of: origins.runs } : {};
      const details = { campaign: definition.campaign, file: prepared.path, ...of, ...test };
      await auditEntry(context, { action: 'run planned', run, details })(session);
      await insertNotifyList(session, run, freezeTargets(definition), prepared.absolutePath);
      await gate.enqueue(session);
    },
    complete: async (session) => {
      if (onFacts) {
        const leftOut = await digestLeftOut(session);
        const { found } = prepared;
        const attachments = new Map(fingerprint.files());
        onFacts(toPlanFacts({ ...noted, ...planning, leftOut, fingerprint, found, attachments }));
      }
      // Its own addresses have no part in what recipients got.
      if (prepared.test) return;
      // A later run without the limit is a repetition, so its files count too.
      await readUnreadFiles(fingerprint, filesBeyondLimit, prepared.files.readUnstored);
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

type NotedFacts = {
  -readonly [Key in keyof Omit<
    FactSources,
    'leftOut' | 'fingerprint' | 'pastSendTimes' | 'attachments' | 'found'
  >]: FactSources[Key];
};

/** What the steps before the last one learn. */
function noteFacts(): NotedFacts {
  return { beyondLimit: null, totals: [], cost: { kind: 'unknown', why: '' }, windowTotals: [] };
}
