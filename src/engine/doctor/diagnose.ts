import { LRUCache } from 'lru-cache';
import type { Check, Finding } from '../../domain/doctor.ts';
import { nextStepText } from '../../domain/next-step.ts';
import { readSchemaState } from '../../ledger/fingerprint.ts';
import { openInspection } from '../../ledger/pools.ts';
import { type DatabaseLease, leaseDatabase } from '../../platform/database.ts';
import { hasEmbeddedData } from '../../platform/embedded-postgres.ts';
import { findHome } from '../../platform/project.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import { checkConnectedAccounts, loadAccounts, type Tools } from './accounts.ts';
import {
  askAll,
  type Deadline,
  isUsable,
  notChecked,
  type Pool,
  type PoolProbe,
  startDeadline,
  withinDeadline,
} from './check.ts';
import { checkConnection, databaseProbes, explainOpening } from './database.ts';
import { installationProbes } from './installation.ts';
import { ledgerProbes, replicaProbes } from './ledger.ts';
import { receiverProbes } from './receiver.ts';
import { scheduleProbes } from './schedules.ts';
import { workProbes } from './work.ts';

type DiagnoseOptions = Omit<Tools, 'deadline'> & {
  /** As `process.version`. */
  readonly nodeVersion: string;
  /** Folder of the campaigns, relative to the working folder. */
  readonly campaigns: string;
  /** Where `volley serve` answers the API, unless --api-port says otherwise. */
  readonly apiPort: number;
  /** Their databases are checked. Of the own one, if there is one, only what no cell is asked for. */
  readonly cells?: readonly CellDatabase[] | undefined;
};

/** A ledger, and the settings with which it is the own one. */
type CellDatabase = {
  readonly cell: { readonly name: string; readonly read: string };
  readonly settings: Settings;
};

/** Seconds, for all checks of a round together. */
const maxSeconds = 9;

/**
 * Checks the installation, the ledger, the accounts and the receiver, all at once. Reads only; starts a stopped
 * embedded server, as every command does, and makes no new one. Never rejects.
 */
export async function diagnose(options: DiagnoseOptions): Promise<readonly Check[]> {
  const deadline = startDeadline(maxSeconds);
  const tools = { ...options, deadline };
  const { cells, settings } = options;
  const whose = cells ? 'own beside cells' : 'own';
  const groups = await Promise.all([
    askAll(installationProbes(settings, options.nodeVersion), deadline, undefined),
    checkCells(cells ?? [], tools),
    !cells || hasDatabase(settings) ? checkDatabase({ ...tools, whose }) : [],
    checkServices(tools),
  ]);
  return groups.flat();
}

function hasDatabase({ environment, workingFolder }: Settings): boolean {
  const home = findHome(environment, workingFolder);
  return Boolean(environment['DATABASE_URL']) || (home !== undefined && hasEmbeddedData(home));
}

/** The names of the checks begin with that of the cell. */
async function checkCells(cells: readonly CellDatabase[], tools: CheckTools): Promise<readonly Check[]> {
  const groups = await Promise.all(
    cells.map(async ({ cell, settings }) => {
      const checks = await checkDatabase({ ...tools, settings, whose: 'cell' });
      const named = (words: string): string => words.replaceAll('DATABASE_URL', cell.read);
      return checks.map(({ name, found, nextStep, ...check }): Check => {
        return {
          ...check,
          name: `cell ${cell.name}: ${name}`,
          found: named(found),
          nextStep: nextStep && named(nextStepText(nextStep)),
        };
      });
    }),
  );
  return groups.flat();
}

async function checkServices(tools: CheckTools): Promise<readonly Check[]> {
  const loaded = await loadAccounts(tools);
  const [connected, receiver] = await Promise.all([
    checkConnectedAccounts(loaded.accounts, tools),
    askAll(receiverProbes(loaded, tools), tools.deadline, undefined),
  ]);
  return [...loaded.checks, ...connected, ...receiver];
}

type CheckTools = DiagnoseOptions & { readonly deadline: Deadline };

/** The cells are asked what only a ledger knows; this machine's replica and folder of campaigns go with its own one. */
type Whose = 'own' | 'own beside cells' | 'cell';

type DatabaseTools = CheckTools & { readonly whose: Whose };

async function checkDatabase(tools: DatabaseTools): Promise<readonly Check[]> {
  const { settings, deadline } = tools;
  const opening = leaseDatabase(settings.environment, settings.workingFolder, false);
  const lease = await withinDeadline(
    opening.catch(explainOpening),
    deadline,
    notChecked(`The database did not answer within ${deadline.seconds} seconds.`),
  );
  if ('state' in lease) {
    // A server that starts late is released. The failure is the finding.
    void opening.then(({ release }) => release()).catch(() => undefined);
    return withoutDatabase(lease, tools);
  }
  const { pool, close } = openInspection(lease.connection);
  try {
    return await checkOpened(pool, lease, tools);
  } finally {
    await withinDeadline(
      close().then(() => lease.release()),
      deadline,
      undefined,
    );
  }
}

async function checkOpened(
  pool: Pool,
  lease: DatabaseLease,
  tools: DatabaseTools,
): Promise<readonly Check[]> {
  const { deadline } = tools;
  const connection: PoolProbe = { name: 'database', ask: () => checkConnection(pool, lease) };
  const [first = { name: 'database', ...notChecked('It was not asked.') }] = await askAll(
    [connection],
    deadline,
    pool,
  );
  if (!isUsable(first)) return withoutDatabase(first, tools);
  // Unknown for a role without the right to read it: then each check finds out for itself.
  const schema = await readSchemaState(pool).catch(() => undefined);
  const isThere = schema === undefined || schema.kind === 'fits' || schema.kind === 'newer';
  const { ofDatabase, ofLedger, ofWork } = probesOf(tools);
  const onLedger = [...ofLedger, ...ofWork];
  return [
    first,
    ...(await askAll(ofDatabase, deadline, pool)),
    ...(isThere
      ? await askAll(onLedger, deadline, pool)
      : unasked(onLedger, 'There is no ledger of this version to ask.')),
  ];
}

/** Questions to the database. Those to the ledger, and about the work in it, need a ledger of this version. */
function probesOf({
  settings,
  campaigns,
  now,
  whose,
}: Pick<DatabaseTools, 'settings' | 'campaigns' | 'now' | 'whose'>) {
  const [ofLedger, ofWork] = [ledgerProbes(settings), workProbes(settings, now)];
  const ofDatabase = databaseProbes(settings, now);
  if (whose === 'cell') return { ofDatabase, ofLedger, ofWork };
  const ofReplica = replicaProbes(settings, now);
  const ofSchedules = scheduleProbes(settings, campaigns, now);
  if (whose === 'own beside cells') return { ofDatabase: [], ofLedger: ofReplica, ofWork: ofSchedules };
  return { ofDatabase, ofLedger: [...ofLedger, ...ofReplica], ofWork: [...ofWork, ...ofSchedules] };
}

function withoutDatabase({ state, found, nextStep }: Finding, tools: DatabaseTools): readonly Check[] {
  const { ofDatabase, ofLedger, ofWork } = probesOf(tools);
  return [
    { name: 'database', state, found, nextStep },
    ...unasked([...ofDatabase, ...ofLedger, ...ofWork], 'The database cannot be used.'),
  ];
}

function unasked(probes: readonly PoolProbe[], why: string): Check[] {
  return probes.map(({ name }) => ({ name, ...notChecked(why) }));
}

/** When a round of checks began, and what it found. */
export type HealthChecks = { readonly at: Date; readonly checks: readonly Check[] };

export type HealthCheckRounds = {
  readonly read: () => Promise<HealthChecks>;
  /** Waits for nothing. @returns undefined when the last round is too old; the next one has begun */
  readonly latest: () => HealthChecks | undefined;
};

/** Milliseconds for which a round is shown, and after which it says nothing of now. */
const shownFor = 60_000;
const oldAfter = 300_000;

/**
 * The checks that ask the ledger only, and nothing of the network, for pages: the last round. When it is a minute old,
 * the next one begins in the background.
 *
 * @param campaigns folder of the campaigns, relative to the working folder
 */
export function createHealthChecks(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  settings: Settings,
  campaigns: string,
): HealthCheckRounds {
  const rounds = new LRUCache<'ledger', HealthChecks>({
    max: 1,
    ttl: shownFor,
    allowStale: true,
    fetchMethod: async () => {
      const at = now();
      const { ofDatabase, ofLedger, ofWork } = probesOf({ settings, campaigns, now, whose: 'own' });
      const checks: Check[] = [];
      // One after the other: the pool has two connections, which pages need too. Counting runs anew takes seconds.
      for (const probe of [...ofWork, ...ofDatabase, ...ofLedger].filter(({ name }) => name !== 'counts'))
        checks.push(...(await askAll([probe], startDeadline(maxSeconds), ledger.monitoring)));
      return { at, checks };
    },
  });
  return {
    read: () => rounds.forceFetch('ledger'),
    latest: () => {
      void rounds.fetch('ledger');
      const last = rounds.get('ledger', { allowStale: true });
      return last && now().getTime() - last.at.getTime() < oldAfter ? last : undefined;
    },
  };
}
