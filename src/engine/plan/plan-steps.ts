import { checkBudget } from '../../campaign/budget.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients } from '../../campaign/recipient-guards.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import { insertNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { digestLeftOut } from '../../ledger/planning/digest-left-out.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { recordFingerprint } from '../../ledger/runs/fingerprints.ts';
import { formatReason } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { serviceOf } from '../dispatch/begun-runs.ts';
import { type Fingerprint, readUnreadFiles } from './fingerprint.ts';
import { forecastRun, type RunForecast, type readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import type { AlongsideRun, Making, StagedRun } from './make-run.ts';
import type { Origins } from './origins.ts';
import type { PastSendTimesCounter } from './past-send-times.ts';
import { type FactSources, type PlanFacts, toPlanFacts } from './plan-facts.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { findUnfinishedRuns, refuseRepeat } from './repeat-check.ts';
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
  readonly progress: PlanProgress;
  readonly fileAndLine: (line: number) => string;
  readonly limits: Awaited<ReturnType<typeof readLimitsInForce>>;
  readonly fingerprint: Fingerprint;
  readonly pastSendTimes: PastSendTimesCounter;
};

type PlanStep = 'checkForecast' | 'check' | 'details' | 'recordTargets' | 'complete';

/** The checks and records of a new run, in its transaction. */
export function planSteps(
  { context, prepared, progress, now, run, fileAndLine, limits, fingerprint, pastSendTimes }: Planning,
  origins: Origins,
  { again = false, onFacts }: Omit<StepOptions, 'alongside'>,
): Pick<StagedRun, PlanStep> {
  const { campaign, account } = prepared;
  const definition = campaign.value;
  const test = prepared.test ? { test: prepared.test.rows } : {};
  const of = origins.runs.length > 0 ? { of: origins.runs } : {};
  const noted = noteFacts();
  let filesBeyondLimit: readonly string[] = [];
  const checkForecast: PlannedRun['checkForecast'] = (windowTotals) => {
    const forecast = forecastRun(definition, account, { limits, from: now, windowTotals, fileAndLine });
    noted.windowTotals = windowTotals;
    requireDeadlineMet(campaign, forecast);
    progress.onForecast?.(forecast);
  };
  return {
    checkForecast: definition.deadline === undefined && !onFacts ? undefined : checkForecast,
    check: (totals, rejected, cost) => {
      if (prepared.test) refuseSuppressedTest(rejected.suppressedBecause.map(formatReason));
      const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
      if (origins.runs.length + origins.others.length > 0) progress.onOrigins?.(origins, rejected.reached);
      // The rules are about the files, of which a limit is only the first part.
      const inFiles = { ...rejected, recipients: recipients + (rejected.beyondLimit?.contacts ?? 0) };
      checkRecipients(campaign, prepared.found(), inFiles, fileAndLine);
      progress.onRepeated?.(rejected.repeated, fileAndLine);
      if (rejected.beyondLimit !== null) progress.onBeyondLimit?.(rejected.beyondLimit.contacts);
      filesBeyondLimit = rejected.beyondLimit?.files ?? [];
      Object.assign(noted, { totals, cost, beyondLimit: rejected.beyondLimit?.contacts ?? null });
      checkBudget(campaign, cost);
    },
    details: { campaign: definition.campaign, file: prepared.path, ...of, ...test },
    recordTargets: (session) =>
      insertNotifyList(session, run, freezeTargets(definition), prepared.absolutePath),
    complete: async (session) => {
      if (onFacts) {
        const leftOut = await digestLeftOut(session);
        const { found } = prepared;
        const attachments = new Map(fingerprint.files());
        onFacts(toPlanFacts({ ...noted, pastSendTimes, leftOut, fingerprint, found, attachments }));
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
