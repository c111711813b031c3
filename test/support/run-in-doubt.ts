import type { RunState } from '../../src/domain/runs.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { aContact, aRun, planContacts } from './ledger.ts';
import { createRequestRows } from './request-rows.ts';

type RunInDoubtOptions = {
  readonly requests?: number;
  /** Requests per slice; by default one slice. */
  readonly sliceSize?: number;
  readonly runState?: RunState;
  /** Positions of suppressed recipients in the first request. */
  readonly suppressed?: readonly number[];
};

/** A completed run whose requests, with two recipients each, were sent once and are in doubt. */
export async function planRunInDoubt(
  { pool, ...ledger }: Ledger,
  { requests = 1, sliceSize = requests, runState = 'completed', suppressed = [] }: RunInDoubtOptions = {},
): Promise<string> {
  const contacts = Array.from({ length: requests * 2 }, (_, index) =>
    aContact(index + 2, { address: `+6141${String(index).padStart(7, '0')}` }),
  );
  const run = await planContacts({ pool, ...ledger }, aRun(), contacts);
  await createRequestRows(pool, run);
  const statements = [
    `UPDATE requests SET state = 'in_doubt', reason = '"no answer within 30000 ms"', attempts = 1, updated_at = now()
     WHERE run_id = $1`,
    `INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict)
     SELECT run_id, request, 1, gen_random_uuid(), now(), now(), 'in_doubt' FROM request_states WHERE run_id = $1`,
    'DELETE FROM slices WHERE run_id = $1',
  ];
  for (const sql of statements) await pool.query(sql, [run]);
  await pool.query(
    `INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, state)
     SELECT $1, slice, 1 + (slice - 1) * $2, least(slice * $2, $3::integer), least(slice * $2, $3::integer), 'done'
     FROM generate_series(1, ($3::integer + $2::integer - 1) / $2::integer) AS slice`,
    [run, sliceSize, requests],
  );
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
     SELECT $1, 1, position, 'cancelled', 'suppressed', now() FROM unnest($2::integer[]) AS position`,
    [run, suppressed],
  );
  await pool.query('UPDATE runs SET state = $2, finished_at = now() WHERE run_id = $1', [run, runState]);
  return run;
}
