import pg from 'pg';
import { expect, test } from 'vitest';
import { eraseOldDeliveryReports } from '../../../src/ledger/purge/erase-old.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;

async function outcomesRead(): Promise<number> {
  await query('SELECT pg_stat_force_next_flush()');
  const [read] = await query(`
    SELECT (t.seq_tup_read + sum(i.idx_tup_read))::integer AS rows
    FROM pg_stat_user_tables t
    JOIN pg_stat_user_indexes i USING (relid)
    WHERE t.relname = 'recipient_outcomes'
    GROUP BY t.seq_tup_read
  `);
  return read.rows;
}

test('old calls are erased without reading the outcomes that other calls between them decided', async () => {
  const { pool } = opened.ledger;
  const lines = Array.from({ length: 500 }, (_, index) => index + 2);
  const envelope = anEnvelope({ Message: 'Hello' });
  const contacts = lines.map((line) => aContact(line, { envelope }));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 500 }), contacts);
  await createRequestRows(pool, run);
  await query(`UPDATE requests SET state = 'accepted'`);
  const [{ message_id: messageId }] = await query('SELECT message_id FROM request_states');
  const recipients = await query('SELECT address FROM recipient_states');
  const old = { receivedAt: new Date('2025-01-01T00:00:00Z') };
  const unreadable = { kind: 'unreadable', why: '' } as const;
  await receiveReadings(pool, [unreadable], old);
  await receiveReadings(
    pool,
    recipients.map(({ address }) => aDelivery({ messageId, address })),
    old,
  );
  await receiveReadings(pool, [unreadable], old);
  while ((await applyReadings(pool, { limit: 500 })) > 0);
  await query(`
    SELECT erase_calls(ARRAY(SELECT report_id FROM recipient_outcomes));
    ANALYZE
  `);
  const before = await outcomesRead();
  // As it plans with a large table.
  const url = new URL(opened.url);
  url.searchParams.set('options', '-c enable_seqscan=off');
  const eraser = new pg.Pool({ connectionString: url.href });
  expect(await eraseOldDeliveryReports(eraser, new Date('2025-06-01T00:00:00Z'))).toBe(2);
  await eraser.end();
  expect((await outcomesRead()) - before).toBeLessThan(100);
});
