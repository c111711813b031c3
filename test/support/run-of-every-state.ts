import type { Contact } from '../../src/domain/contacts.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { aContact, aRun, planContacts } from './ledger.ts';
import { createRequestRows } from './request-rows.ts';

/** States of requests with one recipient each, and the reason of each. */
const requests: readonly (readonly [state: string, reason: string | null])[] = [
  ['planned', null],
  ['planned', null],
  ...Array.from({ length: 7 }, () => ['accepted', null] as const),
  ['rejected', 'No such number'],
  ['rejected', 'No such number'],
  ['rejected', '<b>Bad</b>'],
  ['failed', 'refused connection'],
  ['in_doubt', 'no answer within 30000 ms'],
  ['abandoned', 'no answer within 30000 ms'],
  ['accepted', null],
];

/** Outcomes of recipients, by the number of the request. */
const outcomes: readonly (readonly [request: number, outcome: string, result: string | null])[] = [
  [3, 'delivered', 'Success'],
  [4, 'delivered', 'Success'],
  [5, 'undelivered', 'Busy'],
  [6, 'undelivered', null],
  [7, 'undelivered', 'Busy'],
  [16, 'cancelled', 'suppressed'],
];

const rejected = (line: number, reason: 'invalid' | 'suppressed', column: string): Contact => ({
  kind: 'rejected',
  file: 0,
  line,
  column,
  reason,
  detail: 'is left out',
});

/** A paused run with recipients in every state, and contacts that were left out. */
export async function planRunOfEveryState(ledger: Ledger, account = 'sandbox'): Promise<string> {
  const { pool } = ledger;
  const contacts = [
    ...requests.map((_, index) => aContact(index + 2)),
    rejected(40, 'invalid', 'mobile'),
    rejected(41, 'invalid', 'mobile'),
    rejected(42, 'invalid', 'code'),
    rejected(43, 'suppressed', 'mobile'),
  ];
  const run = await planContacts(ledger, aRun({ account, chunkSize: 1 }), contacts);
  await createRequestRows(pool, run);
  for (const [index, [state, reason]] of requests.entries()) {
    await pool.query(
      `UPDATE requests SET state = $3, reason = to_jsonb($4::text), attempts = 1, updated_at = now()
       WHERE run_id = $1 AND request = $2 AND $3 <> 'planned'`,
      [run, index + 1, state, reason],
    );
  }
  for (const [request, outcome, result] of outcomes) {
    await pool.query(
      `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
       VALUES ($1, $2, 1, $3, $4, now())`,
      [run, request, outcome, result],
    );
  }
  await pool.query(`UPDATE runs SET state = 'paused' WHERE run_id = $1`, [run]);
  return run;
}
