import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { Pool } from 'undici';
import { concurrency, encodeRequests } from '../dispatch/workload.ts';

/** Sends all requests in this process. Started again after a kill, it goes on with what it recorded. */
const [kind = '', service = '', requests = '', databaseUrl = ''] = process.argv.slice(2);
const bodies = encodeRequests({ requests: Number(requests), recipients: 1 });
const pool = new Pool(service, { connections: concurrency, allowH2: false });

async function send(number: number): Promise<void> {
  const encoded = bodies[number];
  if (encoded === undefined) return;
  const { method, path, headers, body } = encoded;
  const answer = await pool.request({ method, path, headers: { ...headers }, body });
  await answer.body.dump();
}

/** p-limit with an INSERT for each answer. What has no row is sent. */
async function script(): Promise<void> {
  const database = new pg.Pool({ connectionString: databaseUrl });
  await database.query('CREATE TABLE IF NOT EXISTS answers (request integer PRIMARY KEY)');
  const { rows } = await database.query<{ request: number }>('SELECT request FROM answers');
  const answered = new Set(rows.map(({ request }) => request));
  const limit = pLimit(concurrency);
  const left = bodies.map((_, number) => number).filter((number) => !answered.has(number));
  await Promise.all(
    left.map((number) =>
      limit(async () => {
        await send(number);
        await database.query('INSERT INTO answers VALUES ($1)', [number]);
      }),
    ),
  );
  await database.end();
}

/** pg-boss with a job for each request. A job expires after two seconds, by default after 15 minutes. */
async function queue(): Promise<void> {
  const name = 'requests';
  const boss = new PgBoss({ connectionString: databaseUrl });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  if ((await boss.getQueue(name)) === null) {
    await boss.createQueue(name, { expireInSeconds: 2 });
    await boss.insert(
      name,
      bodies.map((_, number) => ({ data: { number } })),
    );
  }
  const options = { batchSize: concurrency, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
  await boss.work<{ number: number }>(name, options, async (jobs) => {
    await Promise.all(jobs.map(({ data }) => send(data.number)));
  });
  for (;;) {
    await sleep(1_000);
    await boss.supervise(name);
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    const { rowCount } = await database.query(
      "SELECT FROM pgboss.job WHERE name = $1 AND state IN ('created', 'active', 'retry')",
      [name],
    );
    await database.end();
    if (rowCount === 0) break;
  }
  await boss.stop({ graceful: false });
}

await (kind === 'script' ? script() : queue());
await pool.close();
