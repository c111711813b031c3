import { expect, test } from 'vitest';
import { rejectionReasons } from '../../src/domain/contacts.ts';
import { decisionKinds } from '../../src/domain/decisions.ts';
import { deliveryReportStates, recipientOutcomes } from '../../src/domain/delivery-reports.ts';
import { holdReasonKinds } from '../../src/domain/hold-reasons.ts';
import { channels } from '../../src/domain/message.ts';
import {
  approvalReasonKinds,
  requestReasonKinds,
  runReasonKinds,
  tickReasonKinds,
} from '../../src/domain/reasons.ts';
import { rejectionKinds } from '../../src/domain/rejected-contacts.ts';
import { requestStates, resolutions, runStates } from '../../src/domain/runs.ts';
import { suppressionSources } from '../../src/domain/suppressions.ts';
import { readClosedLists } from '../support/closed-lists.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

test.each([
  ['runs', 'channel', channels],
  ['runs', 'state', runStates],
  ['runs', 'state_reason', ['kind', ...Object.keys(runReasonKinds)]],
  ['run_states', 'reason', ['kind', ...Object.keys(runReasonKinds)]],
  ['approvals', 'reason', ['kind', ...Object.keys(approvalReasonKinds)]],
  ['ticks', 'reason', ['kind', ...Object.keys(tickReasonKinds)]],
  ['notifications', 'reason', ['kind', ...Object.keys({ ...runReasonKinds, ...tickReasonKinds })]],
  ['requests', 'state', requestStates],
  ['requests', 'reason', ['kind', ...Object.keys(requestReasonKinds)]],
  ['attempts', 'detail', ['kind', ...Object.keys(requestReasonKinds)]],
  ['run_decisions', 'kind', decisionKinds],
  ['ledger_location', 'held_reason', ['kind', ...Object.keys(holdReasonKinds)]],
  ['recipient_outcomes', 'outcome', recipientOutcomes],
  ['rejected_contacts', 'reason', rejectionReasons],
  ['rejected_contacts', 'kind', ['unusable', ...Object.keys(rejectionKinds)]],
  ['unusual_delivery_reports', 'state', deliveryReportStates],
  ['resolutions', 'resolution', resolutions],
  ['suppressions', 'channel', channels],
  ['suppressions', 'source', suppressionSources],
])('the words of %s.%s in the database are those of the domain', async (table, column, words) => {
  const lists = await readClosedLists(opened.ledger.pool);
  const found = lists.find((list) => list.table === table && list.column === column);
  // A migration adds a word at the end.
  expect(found?.words.toSorted()).toEqual([...words].toSorted());
});

test('the kinds of reasons are listed once, however many tables have such reasons', async () => {
  const { rows } = await opened.ledger.pool.query<{ called: string; columns: string[] }>(`
    SELECT p.proname AS called, array_agg(concat(c.conrelid::regclass, '.', a.attname) ORDER BY c.conname) AS columns
    FROM pg_constraint c
    JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid AND d.refclassid = 'pg_proc'::regclass
    JOIN pg_proc p ON p.oid = d.refobjid
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
    WHERE c.convalidated
    GROUP BY p.proname
    ORDER BY p.proname
  `);
  expect(rows).toEqual([
    { called: 'is_request_reason', columns: ['attempts.detail', 'requests.reason'] },
    { called: 'is_run_reason', columns: ['notifications.reason', 'run_states.reason', 'runs.state_reason'] },
    { called: 'is_tick_reason', columns: ['notifications.reason', 'ticks.reason'] },
  ]);
});

test('a DELETE by hand of a run that has anything is refused, so it takes no bookings along', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await expect(pool.query('DELETE FROM runs WHERE run_id = $1', [run])).rejects.toThrow(
    /violates foreign key constraint/,
  );
  const { rows } = await pool.query(
    `SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND confdeltype <> 'a'`,
  );
  expect(rows).toEqual([]);
});

test('a request is sending exactly when it has an owner', async () => {
  const update = opened.ledger.pool.query(
    `INSERT INTO requests (run_id, request, envelope, recipients, state) VALUES ('x', 1, 1, 1, 'sending')`,
  );
  await expect(update).rejects.toThrow(/violates check constraint/);
});
