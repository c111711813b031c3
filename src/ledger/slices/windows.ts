import type pg from 'pg';
import type { WindowWait } from '../../domain/runs.ts';
import { lockRun } from '../run-states/transitions.ts';
import { type Connection, inTransaction } from '../session.ts';
import { enqueueSlices, type SlicePlan } from './enqueue.ts';
import type { SliceQueue } from './queue.ts';

/**
 * Slices with a closed window are `waiting` and do not count towards `maxRunSlices`. Delayed jobs would follow the
 * clock of Postgres, not the worker's, and each pause or change of limits would have to find them.
 */

export type SliceWindow = {
  readonly windowIndex: number;
  /** Names of the IANA database. */
  readonly zones: readonly string[];
  /** When the service sends the requests; null if they name no time. */
  readonly sendAt: Date | null;
};

export async function findWindow(client: Connection, run: string, windowIndex: number): Promise<SliceWindow> {
  const { rows } = await client.query<SliceWindow>(
    'SELECT window_index AS "windowIndex", zones, send_at AS "sendAt" FROM run_windows WHERE run_id = $1 AND window_index = $2',
    [run, windowIndex],
  );
  const [window] = rows;
  if (!window) throw new Error(`run ${run} has no window ${windowIndex}`);
  return window;
}

export async function closeWindow(
  pool: pg.Pool,
  {
    run,
    windowIndex,
    opensAt,
  }: { readonly run: string; readonly windowIndex: number; readonly opensAt: Date },
): Promise<void> {
  await pool.query(
    'UPDATE run_windows SET opens_at = $3, closes_at = NULL WHERE run_id = $1 AND window_index = $2',
    [run, windowIndex, opensAt],
  );
}

type DueWindow = Pick<SliceWindow, 'windowIndex' | 'zones'> & {
  readonly run: string;
  readonly account: string;
  readonly definition: unknown;
};

/**
 * Lists windows that open now, of runs that can be sent and need no approval. Clears the windows of ended runs, so that
 * no call reads them again.
 */
export async function listDueWindows(
  pool: pg.Pool,
  now: Date,
  ignoredAccounts: readonly string[],
): Promise<DueWindow[]> {
  const { rows } = await pool.query<DueWindow>({
    name: 'list-due-windows',
    text: `
      WITH over AS (
        SELECT run_id, window_index
        FROM run_windows w
        WHERE opens_at <= $1
          AND EXISTS (SELECT FROM runs r WHERE r.run_id = w.run_id AND r.state IN ('completed', 'cancelled'))
        FOR UPDATE SKIP LOCKED
      ), cleared AS (
        UPDATE run_windows w
        SET opens_at = NULL
        FROM over
        WHERE w.run_id = over.run_id AND w.window_index = over.window_index
      )
      SELECT run_id AS run, w.window_index AS "windowIndex", w.zones, r.account, r.definition
      FROM run_windows w
      JOIN runs r USING (run_id)
      WHERE w.opens_at <= $1 AND r.account <> ALL ($2::text[])
        AND (r.state = 'running'
             OR (r.state = 'planned' AND NOT EXISTS (SELECT FROM approvals a WHERE a.run_id = r.run_id)))
      ORDER BY w.opens_at, run_id, w.window_index
    `,
    values: [now, ignoredAccounts],
  });
  return rows;
}

/**
 * Opens a due window and queues its slices. A second call changes nothing.
 *
 * @param opensAt the next opening, if the window has closed again
 */
export async function openWindow(
  queue: SliceQueue,
  pool: pg.Pool,
  plan: SlicePlan,
  {
    windowIndex,
    opensAt,
    closesAt,
    now,
  }: {
    readonly windowIndex: number;
    readonly opensAt: Date | null;
    readonly closesAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const state = await lockRun(client, plan.run);
    const { rowCount } = await client.query(
      'UPDATE run_windows SET opens_at = $3, closes_at = $4 WHERE run_id = $1 AND window_index = $2 AND opens_at <= $5',
      [plan.run, windowIndex, opensAt, closesAt, now],
    );
    if (rowCount === 1 && opensAt === null && (state === 'running' || state === 'planned'))
      await enqueueSlices(queue, client, plan);
  });
}

/** Lists what waits for a window, by opening time. */
export async function listWindowWaits(client: Connection, run: string): Promise<WindowWait[]> {
  const { rows } = await client.query<Omit<WindowWait, 'until'> & { readonly until: Date }>(
    `
    SELECT w.zones AS "timeZones", w.opens_at AS until, count(*)::integer AS requests,
           sum(q.recipients)::integer AS recipients
    FROM run_windows w
    JOIN runs r USING (run_id)
    JOIN slices s ON s.run_id = w.run_id AND s.window_index = w.window_index AND s.state <> 'done'
    CROSS JOIN LATERAL requests_between(s.run_id, s.first_request, s.last_request) q
    WHERE w.run_id = $1 AND w.opens_at IS NOT NULL AND r.state IN ('planned', 'running') AND q.state = 'planned'
    GROUP BY w.window_index, w.zones, w.opens_at
    ORDER BY w.opens_at, w.window_index
    `,
    [run],
  );
  return rows.map(({ until, ...wait }) => ({ ...wait, until: until.toISOString() }));
}
