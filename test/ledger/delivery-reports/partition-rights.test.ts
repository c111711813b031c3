import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testLedger } from '../../support/test-ledger.ts';

/** Functions that act as the owner of the tables look up no name in the temporary tables of their caller. */

const opened = testLedger();
const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;

const role = `volley_caller_${randomBytes(4).toString('hex')}`;
let caller: pg.Client;

beforeAll(async () => {
  await query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'hush'; GRANT ${role} TO CURRENT_USER; CREATE TABLE canary ()`,
  );
  const url = new URL(opened.url);
  url.username = role;
  url.password = 'hush';
  caller = new pg.Client({ connectionString: url.href });
  await caller.connect();
  await caller.query(`
    CREATE TEMPORARY TABLE inbox_partitions AS
    SELECT 'canary' AS name, CAST(0 AS bigint) AS first_report, CAST(1 AS bigint) AS last_report, true AS is_over,
           CAST(NULL AS timestamptz) AS last_received_at;
    CREATE TEMPORARY TABLE inbox_blocks (first_report bigint, calls integer, last_received_at timestamptz);
    CREATE TEMPORARY TABLE inbox_waiting (first_report bigint, last_report bigint);
    CREATE TEMPORARY TABLE inbox ();
    CREATE TEMPORARY TABLE report_ids AS SELECT CAST(0 AS bigint) AS last_value;
    GRANT ALL ON inbox_partitions, inbox_blocks, inbox_waiting, inbox, report_ids TO PUBLIC
  `);
});
afterAll(async () => {
  await caller.end();
  await query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

const dropCanary = () => caller.query(`SELECT drop_inbox_partition('canary', now()) AS dropped`);
const partitions = () => query('SELECT name, first_report FROM inbox_partitions ORDER BY first_report');

test('a role without rights to the inbox drops no table of the owner, and makes no partition', async () => {
  const before = await partitions();
  await expect(dropCanary()).rejects.toThrow('permission denied for table inbox_blocks');
  await caller.query(`SELECT tend_inbox_partitions('2100-01-01')`);
  expect(await partitions()).toEqual(before);
  expect(await query('SELECT FROM canary')).toEqual([]);
});

test('a role with the rights to the inbox drops only partitions of it', async () => {
  await query(`GRANT SELECT, INSERT, DELETE ON inbox_blocks TO ${role}`);
  expect((await dropCanary()).rows).toEqual([{ dropped: false }]);
  expect(await query('SELECT FROM canary')).toEqual([]);
});
