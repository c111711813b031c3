import type pg from 'pg';
import { fenceValues, mayClaim } from '../location/location.ts';
import type { Transaction } from '../session.ts';
import { largestDestinations } from './destinations.ts';
import { undecidedRuns } from './rests.ts';

/** A run that is watched: while it is running, and while its contacts wait for the winner of variants. */
export type WatchedRun = {
  readonly run: string;
  readonly account: string;
  /** As planned. */
  readonly definition: unknown;
};

/** What the looks at a run have come to. */
export type Watch = {
  readonly observedMs: number;
  /** What watchers keep from look to look, by their names; null: nothing. */
  readonly evidence: Readonly<Record<string, unknown>> | null;
};

/** Times are of the clock of Postgres: those of two workers differ, and their looks would add up the difference. */
export type WatchNow = Watch & {
  readonly now: Date;
  /** 0: no worker has looked. */
  readonly sinceLookMs: number;
};

/** Workers together look about this often at a run that is running, or is sent (milliseconds). */
const lookInterval = { running: 900, completed: 4_500 };

/** Says that a new run is watched, whose contacts are still staged in this session. */
export async function insertWatch(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO run_watches (run_id, destinations)
    SELECT $1, coalesce(array_agg(destination), '{}') FROM (${largestDestinations}) largest
    `,
    [run],
  );
}

/** Begins to watch a resumed run anew. The caller has locked it. */
export async function restartWatch(client: Transaction, run: string): Promise<void> {
  await client.query(
    'UPDATE run_watches SET observed_ms = 0, looked_at = NULL, evidence = NULL WHERE run_id = $1',
    [run],
  );
}

/**
 * Lists watched runs whose next look is due; none while the ledger is on hold or in another location, because what it
 * counts may be old. A look in the future comes from a clock that was set.
 */
export async function listRunsToWatch(
  pool: pg.Pool,
  ignoredAccounts: readonly string[],
): Promise<WatchedRun[]> {
  const { rows } = await pool.query<WatchedRun>({
    name: 'list-runs-to-watch',
    text: `
      SELECT run_id AS run, r.account, r.definition
      FROM runs r
      JOIN run_watches w USING (run_id)
      CROSS JOIN clock_timestamp() AS now
      CROSS JOIN LATERAL (
        SELECT CASE r.state WHEN 'running' THEN ${lookInterval.running} ELSE ${lookInterval.completed} END AS milliseconds
      ) each
      WHERE run_id IN (SELECT run_id FROM runs WHERE state = 'running' UNION ALL ${undecidedRuns})
        AND r.account <> ALL ($1::text[])
        AND (w.looked_at IS NULL OR w.looked_at <= now - milliseconds * interval '1 millisecond' OR w.looked_at > now)
        AND ${mayClaim(2)}
      ORDER BY run_id
    `,
    values: [ignoredAccounts, ...fenceValues(null)],
  });
  return rows;
}

/** The caller has locked the run. */
export async function readWatch(client: Transaction, run: string): Promise<WatchNow | undefined> {
  const { rows } = await client.query<WatchNow>(
    `
    SELECT CAST(observed_ms AS float8) AS "observedMs", evidence, now,
           coalesce(extract(epoch FROM now - looked_at) * 1000, 0)::float8 AS "sinceLookMs"
    FROM run_watches
    CROSS JOIN clock_timestamp() AS now
    WHERE run_id = $1
    `,
    [run],
  );
  return rows[0];
}

/** @param lookedAt `now` of what was read */
export async function recordLook(
  client: Transaction,
  run: string,
  { observedMs, evidence }: Watch,
  lookedAt: Date,
): Promise<void> {
  await client.query(
    'UPDATE run_watches SET observed_ms = $2, looked_at = $3, evidence = $4 WHERE run_id = $1',
    [run, Math.round(observedMs), lookedAt, evidence === null ? null : JSON.stringify(evidence)],
  );
}
