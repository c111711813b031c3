import { randomBytes, randomUUID } from 'node:crypto';
import type { BegunRun } from '../domain/claim-marks.ts';
import type { EngineContext } from '../engine/context.ts';
import { findLostRuns } from '../engine/dispatch/begun-runs.ts';
import type { Settings } from '../engine/settings.ts';
import { openLedger } from '../ledger/connection.ts';
import { openScratchPool } from '../ledger/pools.ts';
import type { SchemaAccess, SchemaChange } from '../ledger/schema.ts';
import { createHashKey, type HashKey } from '../ledger/suppressions/hash.ts';
import { openClaimMarks } from '../platform/claim-marks.ts';
import { type DatabaseLease, leaseDatabase, replicaSettings } from '../platform/database.ts';
import { leaseDisposableServer } from '../platform/disposable-postgres.ts';
import { ensureHashKey, readHashKey } from '../platform/hash-key.ts';
import { findHome } from '../platform/project.ts';

export type OpenedLedger = SchemaChange & { readonly description: string };

/** If `restartIfEnded` is missing, another thread restarts an embedded server. */
type LeasedDatabase = Pick<DatabaseLease, 'connection' | 'description'> &
  Partial<Pick<DatabaseLease, 'restartIfEnded'>>;

type Opener = {
  readonly user: string;
  readonly settings: Settings;
  readonly now: () => Date;
  readonly note: (text: string) => void;
};

/** @throws InputError without a usable ledger */
export async function openContext(opener: Opener, access: SchemaAccess) {
  const { settings, now, note } = opener;
  const lease = await leaseDatabase(settings.environment, settings.workingFolder, access === 'create');
  try {
    // An unusable key is reported before anything is done.
    hashKeyFinder(settings)();
    const { connection, description, restartIfEnded, warning } = lease;
    for (const text of [warning, replicaSettings(settings.environment)?.warning])
      if (text !== undefined) note(text);
    let opened: OpenedLedger = { description, migrated: [], created: false };
    const onSchema = (change: SchemaChange): void => {
      opened = { description, ...change };
      if (change.newer !== undefined) note(`${description}: ${change.newer}`);
      if (change.created) note(`A new, empty ledger was made: ${description}.`);
    };
    const database = { connection, description, restartIfEnded };
    const context = await openContextAt(opener, database, { access, onSchema });
    const { ledger } = context;
    if (opened.created) {
      const lost = await findLostRuns(ledger.pool, ledger.marks, now());
      if (lost.length > 0) note(lostRunsText(lost).join('\n'));
    }
    const close = async (): Promise<void> => {
      await ledger.close();
      await lease.release();
    };
    return { context, opened, close };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/**
 * Opens the ledger of a database that this process has leased. The caller closes the ledger.
 *
 * @throws InputError without a usable ledger
 */
export async function openContextAt(
  opener: Opener,
  { connection, description, restartIfEnded }: LeasedDatabase,
  schema: { readonly access: SchemaAccess; readonly onSchema?: (change: SchemaChange) => void },
): Promise<EngineContext> {
  const { settings, note } = opener;
  const home = findHome(settings.environment, settings.workingFolder);
  const ledger = await openLedger(connection, description, {
    ...(restartIfEnded && { revive: restartIfEnded }),
    findHashKey: hashKeyFinder(settings),
    replica: replicaSettings(settings.environment),
    ...schema,
    // The marks refuse a ledger that lacks what this machine has sent.
    ...(home === undefined ? {} : { marks: openClaimMarks(home, note) }),
  });
  return { ...toolsOf(opener), ledger };
}

/** What a use case gets of this process, besides a ledger. */
export function toolsOf({ user: name, now }: Pick<Opener, 'user' | 'now'>): Omit<EngineContext, 'ledger'> {
  return {
    actor: { name, via: 'cli', token: null },
    now,
    monotonic: () => performance.now(),
    randomBytes,
    random: Math.random,
    randomUuid: randomUUID,
  };
}

/** Opens a database of this command alone, for the temporary tables of a plan. */
export async function openScratch() {
  const { address, release } = await leaseDisposableServer('volley-plan');
  const scratch = openScratchPool(address);
  return {
    scratch,
    close: async (): Promise<void> => {
      await scratch.end();
      await release();
    },
  };
}

/** Makes the key of hashed suppressions, unless there is one. */
export function makeHashKey({
  settings: { environment, workingFolder },
  note,
}: Pick<Opener, 'settings' | 'note'>): void {
  const { made } = ensureHashKey(environment, workingFolder, randomBytes);
  if (made) note(`Made ${made}, the key of hashed suppressions. Keep a copy of this file.`);
}

/** Reads the key until there is one: a purge in another process makes it. */
export function hashKeyFinder({ environment, workingFolder }: Settings): () => HashKey | null {
  let found: HashKey | null = null;
  return () => {
    if (found) return found;
    const secret = readHashKey(environment, workingFolder);
    found = secret ? createHashKey(secret) : null;
    return found;
  };
}

/** The newest are shown, and the others counted. */
const maxShown = 20;

/** Lines that list what this machine sent and the ledger lacks, and what follows; none without such a run. */
export function lostRunsText(lost: readonly BegunRun[]): readonly string[] {
  if (lost.length === 0) return [];
  return [
    'This machine sent from these runs, and this ledger lacks them:',
    ...lost
      .slice(0, maxShown)
      .map(({ run, campaign, service, at }) => `  ${run}  ${campaign}, to ${service}, last at ${at}`),
    ...(lost.length > maxShown ? [`  and ${lost.length - maxShown} more`] : []),
    'They are not billed here, and reports about them are unmatched. `volley run` refuses to send the same again for as long as dispatch.repeat says; after that, or with --again, their recipients get it twice. See "Runs that the ledger lacks" in docs/how-to/backup.md.',
  ];
}
