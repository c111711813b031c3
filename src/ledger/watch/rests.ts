import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { fenceValues, mayClaim } from '../location/location.ts';
import type { Connection, Transaction } from '../session.ts';

/** The rest of a run with `until: winner`: contacts that get the variant that wins, in a run of their own. */
export type Rest = {
  /** The variant that it gets; null: it is not decided. */
  readonly variant: number | null;
  /** Why a person decides, or why it could not be planned when that was last tried; null: neither. */
  readonly problem: string | null;
};

/** What the rest is planned of: the campaign as it was written. */
export type RestSource = { readonly campaignFile: string; readonly source: string };

/** SQL: whether contacts of a run still wait for the variant that wins, or for the run that sends it. */
export const hasOpenRest = (run: string): string =>
  `EXISTS (SELECT FROM run_rests t WHERE t.run_id = ${run} AND t.rest_run IS NULL AND t.source IS NOT NULL)`;

/** SQL: runs that are sent and wait for their winner. */
export const undecidedRuns = `
  SELECT run_id
  FROM run_rests
  JOIN runs USING (run_id)
  WHERE rest_run IS NULL AND variant IS NULL AND problem IS NULL AND source IS NOT NULL AND state = 'completed'`;

export async function insertRest(
  client: Transaction,
  run: string,
  { campaignFile, source }: RestSource,
): Promise<void> {
  await client.query('INSERT INTO run_rests (run_id, campaign_file, source) VALUES ($1, $2, $3)', [
    run,
    campaignFile,
    source,
  ]);
}

/** Lists sent runs whose rest needs a person. */
export async function listRestsOfPersons(client: Connection): Promise<string[]> {
  const { rows } = await client.query<{ run: string }>(`
    SELECT run_id AS run
    FROM run_rests
    JOIN runs USING (run_id)
    WHERE rest_run IS NULL AND source IS NOT NULL AND problem IS NOT NULL AND state = 'completed'
  `);
  return rows.map(({ run }) => run);
}

/** Locks it until the transaction ends. @returns undefined: nothing waits */
export async function lockRest(client: Transaction, run: string): Promise<Rest | undefined> {
  const { rows } = await client.query<Rest>(
    `
    SELECT variant, problem
    FROM run_rests
    WHERE run_id = $1 AND rest_run IS NULL AND source IS NOT NULL
    FOR UPDATE
    `,
    [run],
  );
  return rows[0];
}

/** How long a completed run was sent, with its pauses (milliseconds). */
export async function readSendingMs(client: Transaction, run: string): Promise<number> {
  const { rows } = await client.query<{ sendingMs: number | null }>(
    `
    SELECT CAST(extract(epoch FROM min(changed_at) FILTER (WHERE state = 'completed')
                                   - min(changed_at) FILTER (WHERE state = 'running')) * 1000 AS float8) AS "sendingMs"
    FROM run_states
    WHERE run_id = $1
    `,
    [run],
  );
  return Math.max(0, rows[0]?.sendingMs ?? 0);
}

/** The caller has locked it, and it is not decided. */
export async function decideRest(client: Transaction, run: string, variant: number): Promise<void> {
  await client.query('UPDATE run_rests SET variant = $2, problem = NULL WHERE run_id = $1', [run, variant]);
}

/** Lets a person decide about the rest. @param why shown to the person */
export async function askAboutRest(client: Transaction, run: string, why: string): Promise<void> {
  await client.query('UPDATE run_rests SET problem = $2 WHERE run_id = $1', [run, why]);
}

/**
 * Leaves all that wait to a person: the former ledger may have sent those of a restored one.
 *
 * @returns their runs that are sent
 */
export async function askAboutAllRests(client: Transaction, why: string): Promise<string[]> {
  const { rows } = await client.query<{ run: string; state: RunState }>(
    `
    UPDATE run_rests t SET variant = NULL, problem = $1
    FROM runs r
    WHERE r.run_id = t.run_id AND t.rest_run IS NULL AND t.source IS NOT NULL
    RETURNING r.run_id AS run, r.state
    `,
    [why],
  );
  return rows.flatMap(({ run, state }) => (state === 'completed' ? run : []));
}

/** Its contacts get nothing. The caller has locked the run. @returns whether it waited */
export async function dropRest(client: Transaction, run: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'UPDATE run_rests SET source = NULL WHERE run_id = $1 AND rest_run IS NULL AND source IS NOT NULL',
    [run],
  );
  return rowCount === 1;
}

/** A rest that is decided and not planned. */
export type RestToStart = RestSource & { readonly run: string; readonly variant: number };

/** Lists those that were not tried since `before`; none while the ledger is on hold or in another location. */
export async function listRestsToStart(pool: pg.Pool, before: Date): Promise<RestToStart[]> {
  const { rows } = await pool.query<RestToStart>(
    `
    SELECT run_id AS run, variant, campaign_file AS "campaignFile", source
    FROM run_rests
    WHERE rest_run IS NULL AND variant IS NOT NULL AND source IS NOT NULL
      AND (tried_at IS NULL OR tried_at <= $1) AND ${mayClaim(2)}
    ORDER BY run_id
    `,
    [before, ...fenceValues(null)],
  );
  return rows;
}

/**
 * Records the run of the rest, in the transaction that makes it, so that there is one.
 *
 * @returns whether there was none, and it still waits
 */
export async function recordRestRun(client: Transaction, run: string, restRun: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `
    UPDATE run_rests SET rest_run = $2, problem = NULL
    WHERE run_id = $1 AND rest_run IS NULL AND variant IS NOT NULL AND source IS NOT NULL
    `,
    [run, restRun],
  );
  return rowCount === 1;
}

/** The caller has locked it. */
export async function recordRestProblem(
  client: Transaction,
  run: string,
  problem: string,
  now: Date,
): Promise<void> {
  await client.query('UPDATE run_rests SET problem = $2, tried_at = $3 WHERE run_id = $1', [
    run,
    problem,
    now,
  ]);
}
