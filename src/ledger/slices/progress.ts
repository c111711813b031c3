import type { Refusal } from '../../domain/breaker.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { RunPhase, RunState } from '../../domain/runs.ts';
import type { WinnerWait } from '../../domain/waits.ts';
import { countNotAccepted, countSettled, type RunCounts, readRunCounts } from '../counts/run-counts.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Connection } from '../session.ts';
import { preemptingRun } from './enqueue.ts';

export type CanaryProgress = {
  /** Whether all of it that can be sent now is settled. */
  readonly isSent: boolean;
  readonly observedMs: number;
  /** Null: no worker has looked at the run since it began or was resumed. */
  readonly lookedAt: Date | null;
  /** As frozen in the definition of the run. */
  readonly definition: unknown;
};

/** Progress of a run over all workers, read from its few slices. */
export type DispatchProgress = {
  readonly state: RunState;
  readonly stateReason: RunReason | null;
  readonly counts: RunCounts;
  /** Grows when rejected requests are divided. */
  readonly total: number;
  readonly settled: number;
  /** Without divided requests. */
  readonly notAccepted: number;
  /** Since the last resume. */
  readonly settledSince: number;
  readonly rejectedSince: number;
  readonly phase: RunPhase;
  /** Slices that workers hold. */
  readonly heldSlices: number;
  /** Before the run is promoted; null: it is, or it has no canary. */
  readonly canary: CanaryProgress | null;
  /** When the first window opens, if all that is left waits for one. */
  readonly opensAt: Date | null;
  /** The more urgent run of its account that goes first. */
  readonly preemptedBy: string | null;
  /** When a worker last claimed of it, or its state changed; null while workers send another run of its account. */
  readonly idleSince: Date | null;
  readonly refusal: Refusal | null;
  /** The contacts that wait for the variant that wins; null: there are none any more. */
  readonly rest: Omit<WinnerWait, 'kind'> | null;
};

type DbProgress = Stored<
  Pick<
    DispatchProgress,
    'state' | 'stateReason' | 'phase' | 'heldSlices' | 'opensAt' | 'preemptedBy' | 'idleSince' | 'rest'
  >,
  'stateReason'
> & {
  readonly run: string;
  readonly isCanarySent: boolean | null;
  readonly observedMs: number | null;
  readonly lookedAt: Date | null;
  readonly canary: unknown;
  readonly settledBefore: number;
  readonly rejectedBefore: number;
  readonly since: Date | null;
  readonly retryAt: Date | null;
  readonly reason: string | null;
};

export async function readDispatchProgress(
  client: Connection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, DispatchProgress>> {
  const dispatch = await readDispatch(client, runs);
  // Later than the states: a run that is completed has its last counts.
  return progressOf(dispatch, await readRunCounts(client, runs));
}

/** Reads of runs what `progressOf` needs beside their counts. */
export async function readDispatch(
  client: Connection,
  runs: readonly string[],
): Promise<readonly DbProgress[]> {
  const { rows } = await client.query<DbProgress>({
    name: 'watch-runs',
    text: `
      SELECT r.run_id AS run, r.state, r.state_reason AS "stateReason",
             r.settled_before AS "settledBefore", r.rejected_before AS "rejectedBefore",
             (count(*) FILTER (WHERE s.state = 'held'))::integer AS "heldSlices",
             CASE WHEN bool_or(s.phase = 'settling doubts' AND s.state IN ('queued', 'held'))
                  THEN 'settling doubts' ELSE 'sending' END AS phase,
             CASE WHEN count(*) FILTER (WHERE s.state IN ('queued', 'held')) = 0
                  THEN (SELECT min(opens_at) FROM run_windows w WHERE w.run_id = r.run_id) END AS "opensAt",
             CASE WHEN r.state IN ('planned', 'running') THEN ${preemptingRun('r')} END AS "preemptedBy",
             CASE WHEN NOT EXISTS (
               SELECT FROM slices h JOIN runs o USING (run_id)
               WHERE h.state = 'held' AND o.account = r.account AND o.run_id <> r.run_id
             ) THEN greatest(max(s.claimed_at), (SELECT max(changed_at) FROM run_states c WHERE c.run_id = r.run_id)) END
               AS "idleSince",
             bool_or(s.is_canary AND s.state = 'done') AND NOT bool_or(
               s.is_canary AND s.state <> 'done' AND (s.state <> 'waiting' OR NOT EXISTS (
                 SELECT FROM run_windows w
                 WHERE w.run_id = s.run_id AND w.window_index = s.window_index AND w.opens_at IS NOT NULL
               ))
             ) AS "isCanarySent",
             CAST(o.observed_ms AS float8) AS "observedMs", o.looked_at AS "lookedAt",
             CASE WHEN bool_or(s.state = 'unpromoted') THEN r.definition -> 'canary' END AS canary,
             (
               SELECT json_build_object('isDecided', t.variant IS NOT NULL, 'problem', t.problem)
               FROM run_rests t
               WHERE t.run_id = r.run_id AND t.rest_run IS NULL AND t.source IS NOT NULL
             ) AS rest,
             b.opened_at AS since, b.retry_at AS "retryAt", b.reason
      FROM runs r
      LEFT JOIN slices s USING (run_id)
      LEFT JOIN run_watches o USING (run_id)
      LEFT JOIN account_breakers b ON b.account = r.account AND r.state = 'running'
      WHERE r.run_id = ANY ($1)
      GROUP BY r.run_id, o.run_id, b.account
    `,
    values: [runs],
  });
  return rows;
}

/** @param countsOf of the same snapshot, or of a later one */
export function progressOf(
  dispatch: readonly DbProgress[],
  countsOf: ReadonlyMap<string, RunCounts>,
): ReadonlyMap<string, DispatchProgress> {
  return new Map(
    dispatch.flatMap(
      ({
        run,
        since,
        retryAt,
        reason,
        stateReason,
        settledBefore,
        rejectedBefore,
        isCanarySent,
        observedMs,
        lookedAt,
        canary,
        ...watch
      }) => {
        const counts = countsOf.get(run);
        if (!counts) return [];
        const { requests } = counts;
        const settled = countSettled(counts);
        const progress = {
          ...watch,
          stateReason: runReason(stateReason),
          counts,
          canary:
            canary === null
              ? null
              : { isSent: isCanarySent === true, observedMs: observedMs ?? 0, lookedAt, definition: canary },
          total: requests.total,
          settled,
          notAccepted: countNotAccepted(counts),
          settledSince: settled - settledBefore,
          rejectedSince: requests.rejected - rejectedBefore,
          refusal: since && retryAt && reason !== null ? { since, retryAt, reason } : null,
        };
        return [[run, progress] as const];
      },
    ),
  );
}
