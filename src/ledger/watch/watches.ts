import type pg from 'pg';
import { fenceValues, mayClaim } from '../location/location.ts';
import type { Transaction } from '../session.ts';
import { largestDestinations } from './destinations.ts';

/** A running run that is watched. */
export type WatchedRun = {
  readonly run: string;
  readonly account: string;
  /** As planned. */
  readonly definition: unknown;
};

/** What the looks at a run have come to. */
export type Watch = {
  readonly observedMs: number;
  /** Null: no worker has looked. */
  readonly lookedAt: Date | null;
  /** What watchers keep from look to look, by their names; null: nothing. */
  readonly evidence: Readonly<Record<string, unknown>> | null;
};

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
 * Lists running runs that no worker has looked at since `before`; none while the ledger is on hold or in another location,
 * because what it counts may be old. A last look after `now` comes from a clock that was set.
 */
export async function listRunsToWatch(
  pool: pg.Pool,
  {
    before,
    now,
    ignoredAccounts,
  }: { readonly before: Date; readonly now: Date; readonly ignoredAccounts: readonly string[] },
): Promise<WatchedRun[]> {
  const { rows } = await pool.query<WatchedRun>({
    name: 'list-runs-to-watch',
    text: `
      SELECT run_id AS run, r.account, r.definition
      FROM runs r
      JOIN run_watches w USING (run_id)
      WHERE r.state = 'running' AND r.account <> ALL ($3::text[])
        AND (w.looked_at IS NULL OR w.looked_at <= $1 OR w.looked_at > $2) AND ${mayClaim(4)}
      ORDER BY run_id
    `,
    values: [before, now, ignoredAccounts, ...fenceValues(null)],
  });
  return rows;
}

/** The caller has locked the run. */
export async function readWatch(client: Transaction, run: string): Promise<Watch | undefined> {
  const { rows } = await client.query<Watch>(
    `
    SELECT CAST(observed_ms AS float8) AS "observedMs", looked_at AS "lookedAt", evidence
    FROM run_watches
    WHERE run_id = $1
    `,
    [run],
  );
  return rows[0];
}

export async function recordLook(client: Transaction, run: string, watch: Watch): Promise<void> {
  await client.query(
    'UPDATE run_watches SET observed_ms = $2, looked_at = $3, evidence = $4 WHERE run_id = $1',
    [run, watch.observedMs, watch.lookedAt, watch.evidence === null ? null : JSON.stringify(watch.evidence)],
  );
}
