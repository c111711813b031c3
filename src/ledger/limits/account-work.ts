import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { countSettled, readRunCounts } from '../counts/run-counts.ts';

/** What an account does now. */
export type AccountWork = LimitedAccount & {
  /** Unfinished runs by state. */
  readonly running: number;
  readonly paused: number;
  readonly planned: number;
  /** Requests of running runs that have an outcome; its growth is the speed. */
  readonly settled: number;
  /** Requests that workers have claimed, without a recorded outcome: in flight, or about to be. */
  readonly claimed: number;
  /** Slices that workers hold. */
  readonly heldSlices: number;
};

type LimitedAccount = {
  readonly account: string;
  /** The service refuses everything since then; null: it does not. */
  readonly refusedSince: Date | null;
  readonly retryAt: Date | null;
  readonly refusal: string | null;
  /** The last status look-up; null: none yet. */
  readonly lookedUpAt: Date | null;
};

type UnfinishedRun = { readonly account: string; readonly run: string; readonly heldSlices: number };

/** Lists accounts with unfinished runs (`runs_unfinished`), or with limits, or that the service refuses. */
export async function listAccountWork(pool: pg.Pool): Promise<AccountWork[]> {
  const { rows: unfinished } = await pool.query<UnfinishedRun>(
    `
    SELECT r.account, r.run_id AS run, (count(s.slice) FILTER (WHERE s.state = 'held'))::integer AS "heldSlices"
    FROM runs r
    LEFT JOIN slices s USING (run_id)
    WHERE r.state IN ('planned', 'running', 'paused')
    GROUP BY r.run_id
    `,
  );
  const countsOf = await readRunCounts(
    pool,
    unfinished.map(({ run }) => run),
  );
  const { rows: limited } = await pool.query<LimitedAccount>(
    `
    SELECT account, b.opened_at AS "refusedSince", b.retry_at AS "retryAt", b.reason AS refusal,
           CASE WHEN isfinite(l.status_until) THEN l.status_until - interval '1 s' END AS "lookedUpAt"
    FROM account_breakers b
    FULL JOIN rate_limits l USING (account)
    `,
  );
  const limits = new Map(limited.map((each) => [each.account, each]));
  const runsOf = Map.groupBy(unfinished, ({ account }) => account);
  return [...new Set([...runsOf.keys(), ...limits.keys()])].toSorted().map((account): AccountWork => {
    const runs = (runsOf.get(account) ?? []).flatMap(({ run, heldSlices }) => {
      const counts = countsOf.get(run);
      return counts ? [{ heldSlices, counts }] : [];
    });
    const inState = (state: RunState) => runs.filter(({ counts }) => counts.state === state);
    const sum = (each: readonly number[]): number => each.reduce((total, one) => total + one, 0);
    return {
      account,
      running: inState('running').length,
      paused: inState('paused').length,
      planned: inState('planned').length,
      settled: sum(inState('running').map(({ counts }) => countSettled(counts))),
      claimed: sum(runs.map(({ counts }) => counts.requests.sending)),
      heldSlices: sum(runs.map(({ heldSlices }) => heldSlices)),
      ...(limits.get(account) ?? { refusedSince: null, retryAt: null, refusal: null, lookedUpAt: null }),
    };
  });
}
