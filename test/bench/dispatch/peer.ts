import pLimit from 'p-limit';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { Pool } from 'undici';
import type { EncodedSendRequest } from '../../../src/wire/wire-interface.ts';
import { measureWork } from './processor-time.ts';
import { concurrency, encodeRequests, messagesOf, writeRequest } from './workload.ts';

/**
 * Runs one peer in this process and prints its seconds, from the first request to the last recorded answer. Preparing
 * requests and queue is not timed. With bodies `written`, a peer writes each body from its recipients when it sends
 * it.
 */
const [kind = '', bodies = '', service = '', requests, recipients, databaseUrl = '', postmaster] =
  process.argv.slice(2);
const measure = (work: () => Promise<void>) => measureWork(Number(postmaster), work);
type Measured = Awaited<ReturnType<typeof measure>>;
const workload = { requests: Number(requests), recipients: Number(recipients) };
const pool = new Pool(service, { connections: concurrency, allowH2: false });

async function send({ method, path, headers, body }: EncodedSendRequest) {
  const answer = await pool.request({ method, path, headers: { ...headers }, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}: ${text}`);
  return { status: answer.statusCode, text };
}

/** As `send`, without a stream for the answer. */
function dispatch({ method, path, headers, body }: EncodedSendRequest): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const pieces: Buffer[] = [];
  let status = 0;
  pool.dispatch(
    { method, path, headers: { ...headers }, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_controller, piece) => {
        pieces.push(piece);
      },
      onResponseEnd: () => {
        const text = Buffer.concat(pieces).toString();
        if (status === 200) resolve(text);
        else reject(new Error(`HTTP ${status}: ${text}`));
      },
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}

/** What a peer has before it sends. */
type Work<Task extends object> = {
  readonly tasks: readonly Task[];
  readonly toRequest: (task: Task) => EncodedSendRequest;
};

/** Only sends. */
async function bare<Task extends object>(
  { tasks, toRequest }: Work<Task>,
  sendBy: (request: EncodedSendRequest) => Promise<unknown> = send,
): Promise<Measured> {
  return measure(async () => {
    const rest = tasks.values();
    const loop = async (): Promise<void> => {
      for (const task of rest) await sendBy(toRequest(task));
    };
    await Promise.all(Array.from({ length: concurrency }, loop));
  });
}

async function inserting<Task extends object>({ tasks, toRequest }: Work<Task>): Promise<Measured> {
  const database = new pg.Pool({ connectionString: databaseUrl });
  await database.query(`
    DROP TABLE IF EXISTS answers;
    CREATE TABLE answers (request integer PRIMARY KEY, status integer, answer text, received_at timestamptz)
  `);
  const measured = await measure(async () => {
    const limit = pLimit(concurrency);
    await Promise.all(
      tasks.map((task, number) =>
        limit(async () => {
          const { status, text } = await send(toRequest(task));
          await database.query('INSERT INTO answers VALUES ($1, $2, $3, $4)', [
            number,
            status,
            text,
            new Date(),
          ]);
        }),
      ),
    );
  });
  await database.end();
  return measured;
}

/** One job for each request. Two fetchers take 64 each, so that one sends while the other completes. */
async function boss<Task extends object>({ tasks, toRequest }: Work<Task>): Promise<Measured> {
  const queue = 'requests';
  const database = new pg.Pool({ connectionString: databaseUrl });
  const boss = new PgBoss({ connectionString: databaseUrl });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(queue);
  for (let from = 0; from < tasks.length; from += 1000) {
    await boss.insert(
      queue,
      tasks.slice(from, from + 1000).map((data) => ({ data })),
    );
  }
  let left = tasks.length;
  const measured = await measure(async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = {
      batchSize: concurrency,
      localConcurrency: 2,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
    };
    await boss
      .work<Task>(queue, options, async (jobs) => {
        const answers = await Promise.all(jobs.map(({ data }) => send(toRequest(data))));
        left -= jobs.length;
        if (left === 0) resolve();
        return answers;
      })
      .catch(reject);
    await promise;
    await boss.offWork(queue, { wait: true });
  });
  const counts = await database.query("SELECT FROM pgboss.job WHERE name = $1 AND state = 'completed'", [
    queue,
  ]);
  if (counts.rowCount !== tasks.length) throw new Error(`pg-boss completed ${counts.rowCount} jobs`);
  await boss.deleteQueue(queue);
  await boss.stop({ graceful: false });
  await database.end();
  return measured;
}

const dispatching = <Task extends object>(work: Work<Task>): Promise<Measured> => bare(work, dispatch);

const peers = { bare, dispatching, inserting, boss };
const isKind = (name: string): name is keyof typeof peers => Object.hasOwn(peers, name);
const peer = isKind(kind) ? peers[kind] : undefined;
if (!peer) throw new Error(`There is no peer ${kind}`);
const measured =
  bodies === 'written'
    ? await peer({ tasks: messagesOf(workload), toRequest: writeRequest })
    : await peer({ tasks: encodeRequests(workload), toRequest: (request) => request });
await pool.close();
console.log(JSON.stringify(measured));
