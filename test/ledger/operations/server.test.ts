import { Client } from 'pg';
import { expect, test } from 'vitest';
import { listSnapshotHolders } from '../../../src/ledger/operations/server.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

test('a session is listed while its transaction is open, and no session is afterwards', async () => {
  const { pool } = opened.ledger;
  const forgotten = new Client({ connectionString: opened.url, application_name: 'nightly copy' });
  await forgotten.connect();
  await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await forgotten.query('SELECT pg_backend_pid() AS pid, count(*) FROM runs');
  expect(await listSnapshotHolders(pool)).toMatchObject([{ pid: rows[0].pid, application: 'nightly copy' }]);
  await forgotten.query('COMMIT');
  expect(await listSnapshotHolders(pool)).toEqual([]);
  await forgotten.end();
});
