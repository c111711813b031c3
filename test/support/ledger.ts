import { randomBytes, randomUUID } from 'node:crypto';
import { type Contact, isKeyed } from '../../src/domain/contacts.ts';
import type { Envelope, MessageFields } from '../../src/domain/message.ts';
import type { EngineContext } from '../../src/engine/context.ts';
import { type Ledger, openLedger } from '../../src/ledger/connection.ts';
import { expandRun } from '../../src/ledger/planning/expand.ts';
import type { PlannedRun } from '../../src/ledger/planning/planned-run.ts';
import { type ContactSource, stageContacts } from '../../src/ledger/planning/stage-contacts.ts';
import { inSession } from '../../src/ledger/session.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export type TestLedger = {
  readonly ledger: Ledger;
  readonly context: EngineContext;
  /** For other processes. */
  readonly url: string;
  /** Ends all connections and drops the database. */
  dropDatabase(): Promise<void>;
  /** Ends all other sessions, like a restart of the server. */
  breakConnections(): Promise<void>;
  close(): Promise<void>;
};

export async function openTestLedger(): Promise<TestLedger> {
  return openLedgerIn(await createTestDatabase());
}

export async function openLedgerIn(database: TestDatabase): Promise<TestLedger> {
  const ledger = await openLedger(database.connection, 'test database');
  const context = contextOf(ledger);
  const close = async (): Promise<void> => {
    await ledger.close();
    await database.drop();
  };
  const breakConnections = async (): Promise<void> => {
    await ledger.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  };
  return { ledger, context, breakConnections, url: database.url, dropDatabase: database.drop, close };
}

/** With the real clock and random numbers. */
export function contextOf(ledger: Ledger): EngineContext {
  return {
    ledger,
    actor: { name: 'tester', via: 'cli', token: null },
    now: () => new Date(),
    monotonic: () => performance.now(),
    randomBytes,
    random: Math.random,
    randomUuid: randomUUID,
  };
}

let runs = 0;

export function aRun(changes: Partial<PlannedRun> = {}): PlannedRun {
  runs++;
  return {
    run: `test-${runs}`,
    origins: [],
    identity: { key: [], duplicates: 'merge' },
    campaign: 'test',
    account: 'sandbox',
    channel: 'sms',
    definition: { dispatch: { concurrency: 4, retries: 2 } },
    messageKey: randomBytes(32),
    chunkSize: 2,
    recipientColumn: 'phone',
    contactFiles: [],
    frequencyCaps: [],
    checkPlan: () => undefined,
    sourceRun: null,
    rates: null,
    firstRequests: null,
    priority: 'normal',
    enqueue: async () => undefined,
    files: { kind: 'read', readFile: async (path) => Buffer.from(`content of ${path}`) },
    createdAt: new Date(),
    ...changes,
  };
}

export function anEnvelope(fields: MessageFields, others: Partial<Envelope> = {}): Envelope {
  return { fields, keypads: [], files: [], audio: {}, ...others };
}

export function aContact(
  line: number,
  changes: Partial<Extract<Contact, { kind: 'contact' }>> = {},
): Contact {
  return {
    kind: 'contact',
    file: 0,
    line,
    address: `+6140000${String(line).padStart(4, '0')}`,
    originalAddress: `0400 00${line}`,
    envelope: anEnvelope({ Message: 'Hello' }),
    destination: {},
    ...changes,
  };
}

/** Stages and expands contacts. Returns the run's id. */
export async function planContacts(
  ledger: Ledger,
  run: PlannedRun,
  contacts: readonly Contact[],
  {
    partsOf = () => null,
    tariffOf = null,
  }: { readonly partsOf?: () => number | null; readonly tariffOf?: ContactSource['tariffOf'] } = {},
): Promise<string> {
  await inSession(ledger.pool, async (client) => {
    await stageContacts(client, {
      contacts: inBatches(contacts),
      linesBefore: () => 0,
      keyed: isKeyed(run.identity),
      partsOf,
      tariffOf,
      takePieces: async () => [],
    });
    await expandRun(client, run);
  });
  return run.run;
}

/** Two contacts each. */
async function* inBatches(contacts: readonly Contact[]): AsyncGenerator<readonly Contact[]> {
  for (let start = 0; start < contacts.length; start += 2) yield contacts.slice(start, start + 2);
}
