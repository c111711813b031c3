import { afterAll, beforeAll, expect, test } from 'vitest';
import { rejectionReasons } from '../../src/domain/contacts.ts';
import { deliveryReportStates, recipientOutcomes } from '../../src/domain/delivery-reports.ts';
import { channels } from '../../src/domain/message.ts';
import { requestStates, resolutions, runStates } from '../../src/domain/runs.ts';
import { suppressionSources } from '../../src/domain/suppressions.ts';
import {
  approvalReasonKinds,
  holdReasonKinds,
  leftOutReasonKinds,
  requestReasonKinds,
  runReasonKinds,
  tickReasonKinds,
} from '../../src/ledger/reasons.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

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
  ['ledger_location', 'held_reason', ['kind', ...Object.keys(holdReasonKinds)]],
  ['recipient_outcomes', 'outcome', recipientOutcomes],
  ['rejected_contacts', 'reason', rejectionReasons],
  ['rejected_contacts', 'kind', ['unusable', ...Object.keys(leftOutReasonKinds)]],
  ['unusual_delivery_reports', 'state', deliveryReportStates],
  ['resolutions', 'resolution', resolutions],
  ['suppressions', 'channel', channels],
  ['suppressions', 'source', suppressionSources],
])('the words of %s.%s in the database are those of the domain', async (tableName, column, words) => {
  const { rows } = await opened.ledger.pool.query<{ definition: string }>(
    `SELECT pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
     WHERE c.conrelid = $1::regclass AND c.contype = 'c' AND a.attname = $2`,
    [tableName, column],
  );
  const kept = [...(rows[0]?.definition ?? '').matchAll(/'([a-z_]+)'/g)].map(([, word]) => word);
  // A migration adds a word at the end.
  expect(kept.toSorted()).toEqual([...words].toSorted());
});

test('a request is sending exactly when it has an owner', async () => {
  const update = opened.ledger.pool.query(
    `INSERT INTO requests (run_id, request, envelope, recipients, state) VALUES ('x', 1, 1, 1, 'sending')`,
  );
  await expect(update).rejects.toThrow(/violates check constraint/);
});
