import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Ledger } from '../../../src/ledger/connection.ts';
import type { HeldSlice } from '../../../src/ledger/slices/acquire.ts';
import type { SliceQueue } from '../../../src/ledger/slices/queue.ts';
import { openWorkerSession, type WorkerSession } from '../../../src/ledger/slices/worker-session.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { cutContents } from '../../support/slices.ts';
import { openService, type Service } from './messaging-service.ts';
import { createModel, type Model, type Settings } from './model.ts';
import { type Mutation, type Operations, operations } from './operations.ts';

export type World = {
  readonly ledger: Ledger;
  readonly pool: pg.Pool;
  readonly queue: SliceQueue;
  readonly run: string;
  readonly service: Service;
  readonly sessions: Map<string, WorkerSession>;
  /** By owner. */
  readonly held: Map<string, HeldSlice>;
  /** By request. */
  readonly messageIds: Map<number, string>;
  readonly operations: Operations;
  readonly mutation: Mutation;
};

const contactsInRequest = 2;
const requestsInSlice = 3;

/** Plans a run with few requests in each slice. */
export async function openWorld(
  ledger: Ledger,
  settings: Settings,
  mutation: Mutation,
): Promise<{ readonly model: Model; readonly world: World }> {
  const { pool } = ledger;
  const addresses = Array.from(
    { length: settings.recipients },
    (_, index) => `+6140${index % 2}0000${String(index).padStart(2, '0')}`,
  );
  const all = addresses.map((address, index) => aContact(index + 2, { address }));
  const run = await planContacts(ledger, aRun({ chunkSize: contactsInRequest, isWatched: true }), all);
  const chunks = Array.from({ length: Math.ceil(settings.recipients / contactsInRequest) }, (_, index) =>
    addresses.slice(index * contactsInRequest, (index + 1) * contactsInRequest),
  );
  const model = createModel(settings, chunks, requestsInSlice);
  await pool.query('DELETE FROM slices WHERE run_id = $1', [run]);
  await pool.query(
    `INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state, is_canary)
     SELECT $1, slice, phase, first, last, first - 1, state, is_canary
     FROM unnest($2::integer[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::boolean[])
       AS slice (slice, phase, first, last, state, is_canary)`,
    [
      run,
      model.slices.map(({ number }) => number),
      model.slices.map(({ phase }) => phase),
      model.slices.map(({ phase, first }) => (phase === 'sending' ? first : null)),
      model.slices.map(({ phase, last }) => (phase === 'sending' ? last : null)),
      model.slices.map(({ state }) => state),
      model.slices.map(({ isCanary }) => isCanary),
    ],
  );
  await pool.query(`UPDATE run_watches SET destinations = '{+61400}' WHERE run_id = $1`, [run]);
  await cutContents(pool, run, requestsInSlice);
  const world: World = {
    ledger,
    pool,
    queue: await ledger.queue(),
    run,
    service: openService(),
    sessions: new Map(),
    held: new Map(),
    messageIds: new Map(),
    operations: { ...operations, ...mutation },
    mutation,
  };
  for (let count = 0; count < 2; count++) await startWorker(model, world);
  return { model, world };
}

export async function startWorker(model: Model, { pool, sessions }: World): Promise<void> {
  const worker = randomUUID();
  sessions.set(worker, await openWorkerSession(pool, worker, () => undefined));
  model.workers.push(worker);
}

/** Its session ends, and its memory is lost. */
export async function stopWorker(model: Model, { sessions }: World, worker: string): Promise<void> {
  await sessions.get(worker)?.close();
  sessions.delete(worker);
  model.workers.splice(model.workers.indexOf(worker), 1);
  for (const holding of model.holdings) if (holding.worker === worker) holding.isReleased = true;
  const lost = model.flights.filter(({ holding }) => holding.worker === worker);
  for (const flight of lost) model.flights.splice(model.flights.indexOf(flight), 1);
}

export async function closeWorld({ pool, sessions, run, mutation }: World): Promise<void> {
  await mutation.beforeClosing?.();
  for (const session of sessions.values()) await session.close();
  await pool.query('DELETE FROM volley_queue.job');
  await pool.query('DELETE FROM suppressions');
  await pool.query(
    'DELETE FROM inbox_waiting; DELETE FROM unusual_delivery_reports; DELETE FROM inbox_blocks',
  );
  await pool.query('DELETE FROM attempts WHERE run_id = $1', [run]);
  await deleteRuns(pool, `run_id = '${run}'`);
}
