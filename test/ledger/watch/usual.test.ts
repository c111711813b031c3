import { beforeEach, expect, test } from 'vitest';
import { type ComparedRun, readUsual } from '../../../src/ledger/watch/usual.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(() => emptyLedger(opened.ledger.pool));

const compared: ComparedRun = {
  campaign: 'nightly',
  account: 'main',
  channel: 'sms',
  createdAt: new Date('2026-11-20T00:00:00Z'),
  run: '',
};

const query = (sql: string, values: unknown[] = []) => opened.ledger.pool.query(sql, values);

const columns =
  'run_id, campaign, account, channel, definition, message_key, contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed, created_at';

type Former = {
  readonly run: string;
  readonly campaign?: string;
  readonly state?: string;
  readonly day: number;
};

/** A run with these delivered and undelivered recipients. */
async function addRun(
  { run, campaign = 'nightly', state = 'completed', day }: Former,
  [delivered, undelivered]: readonly [number, number],
  watchedAt?: string,
): Promise<void> {
  await query(
    `INSERT INTO runs (${columns}, state) VALUES ($1, $2, 'main', 'sms', '{}', decode(repeat('00', 32), 'hex'), 0, 0, 0, 0, $3, $4)`,
    [run, campaign, new Date(Date.UTC(2026, 10, day)), state],
  );
  for (const table of ['run_counts', 'watched_counts'])
    await query(`DELETE FROM ${table} WHERE run_id = $1`, [run]);
  await query(
    `INSERT INTO run_counts (run_id, counted, requests, recipients)
     VALUES ($1, 'delivered', 0, $2), ($1, 'undelivered', 0, $3)`,
    [run, delivered, undelivered],
  );
  if (watchedAt === undefined) return;
  await query(
    `INSERT INTO watched_counts (run_id, is_canary, destination, outcome, recipients)
     VALUES ($1, false, $4, 'delivered', $2), ($1, true, $4, 'undelivered', $3), ($1, false, '', 'delivered', 5)`,
    [run, delivered, undelivered, watchedAt],
  );
}

test('what is usual is the sum of the five former runs of the campaign that are completed', async () => {
  for (let day = 1; day <= 7; day++)
    await addRun({ run: `r-${day}`, day }, [90, 10], day > 5 ? '+61412' : undefined);
  await addRun({ run: 'later', day: 25 }, [0, 1_000]);
  await addRun({ run: 'paused', day: 9, state: 'paused' }, [0, 1_000]);
  await addRun({ run: 'other', day: 9, campaign: 'weekly' }, [0, 1_000]);
  expect(await readUsual(opened.ledger.pool, compared)).toEqual({
    source: 'campaign',
    runs: 5,
    whole: { events: 50, trials: 500 },
    at: { '+61412': { events: 20, trials: 200 } },
  });
});

test('of a campaign without former runs, it is what the account had', async () => {
  await addRun({ run: 'weekly-1', day: 9, campaign: 'weekly' }, [99, 1], '+61412');
  expect(await readUsual(opened.ledger.pool, compared)).toEqual({
    source: 'account',
    runs: 1,
    whole: { events: 1, trials: 100 },
    at: {},
  });
});

test('without any delivery report, nothing is usual', async () => {
  expect(await readUsual(opened.ledger.pool, compared)).toBeUndefined();
  await addRun({ run: 'r-1', day: 9 }, [0, 0]);
  expect(await readUsual(opened.ledger.pool, compared)).toBeUndefined();
});

test('among many runs, what is usual is found by keys', async () => {
  await query(`
    INSERT INTO runs (${columns}, state)
    SELECT 'run-' || n, 'campaign-' || n % 200, 'main', 'sms', '{}', decode(repeat('00', 32), 'hex'), 0, 0, 0, 0, timestamptz '2026-11-19 00:00Z' - n * interval '5 minutes', 'completed'
    FROM generate_series(1, 10000) n
  `);
  await query(`
    INSERT INTO watched_counts (run_id, is_canary, destination, outcome, recipients, folded)
    SELECT run_id, false, '+6141' || d, 'delivered', 10, true FROM runs, generate_series(0, 9) d
  `);
  await query('ANALYZE runs, run_counts, watched_counts');
  await query("UPDATE run_counts SET counted = 'delivered', recipients = 1");
  const explained: string[] = [];
  const client = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await query(`EXPLAIN (ANALYZE, FORMAT TEXT) ${text}`, values);
      explained.push(...rows.map((row) => row['QUERY PLAN']));
      return { rows: [] };
    },
  } as unknown as Parameters<typeof readUsual>[0];
  await readUsual(client, { ...compared, campaign: 'campaign-7' });
  expect(explained.join('\n')).not.toMatch(/Seq Scan/);
});
