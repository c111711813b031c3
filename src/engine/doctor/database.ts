import type { Finding } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import { describeError } from '../../gateway/evidence.ts';
import { readSchemaState, type SchemaState } from '../../ledger/fingerprint.ts';
import {
  listSnapshotHolders,
  readArchiving,
  readServer,
  readServerTime,
  type SnapshotHolder,
} from '../../ledger/operations/server.ts';
import { describeSchema } from '../../ledger/schema.ts';
import type { DatabaseLease } from '../../platform/database.ts';
import { connectionReason, isConnectionFailure, lacksPassword } from '../../platform/database-failures.ts';
import { embeddedServerStatus } from '../../platform/embedded-postgres.ts';
import { findHome, requireHome } from '../../platform/project.ts';
import { count } from '../../platform/sentence.ts';
import type { Settings } from '../settings.ts';
import {
  explainInput,
  formatAge,
  formatBytes,
  notChecked,
  ok,
  type Pool,
  type PoolProbe,
  problem,
  warning,
} from './check.ts';
import { checkRoom, freeBytes } from './installation.ts';

/** Questions to any database, with or without a ledger. */
export function databaseProbes(settings: Settings, now: () => Date): PoolProbe[] {
  return [
    { name: 'postgres version', ask: async (pool) => checkVersion(await readServer(pool)) },
    { name: 'migrations', ask: async (pool) => checkSchema(await readSchemaState(pool)) },
    { name: 'room', ask: (pool) => checkDatabaseRoom(pool, settings) },
    { name: 'connections', ask: async (pool) => checkConnections(await readServer(pool)) },
    { name: 'snapshots', ask: async (pool) => checkSnapshots(await listSnapshotHolders(pool), now()) },
    { name: 'clock', ask: async (pool) => checkClock(await measureClock(pool, now)) },
    { name: 'backups', ask: (pool) => checkBackups(pool, settings, now) },
  ];
}

/** docs/how-to/deployment.md names it. */
const oldestPostgres = 15;

export function checkVersion({
  version,
  versionNumber,
}: {
  version: string;
  versionNumber: number;
}): Finding {
  if (versionNumber >= oldestPostgres * 10_000) return ok(`Postgres ${version}.`);
  return problem(
    `Postgres ${version} is too old; Volley needs ${oldestPostgres} or later.`,
    'Upgrade the server (docs/how-to/backup.md, "Moving, upgrading, failing over").',
  );
}

function checkSchema(state: SchemaState): Finding {
  const { found, nextStep } = describeSchema(state);
  const words = `The ledger ${found}.`;
  if (nextStep === undefined) return ok(words);
  return state.kind === 'fits' ? warning(words, nextStep) : problem(words, nextStep);
}

async function checkDatabaseRoom(pool: Pool, { environment, workingFolder }: Settings): Promise<Finding> {
  if (!environment['DATABASE_URL']) {
    const { dataFolder } = embeddedServerStatus(requireHome(environment, workingFolder));
    return checkRoom(freeBytes(dataFolder), dataFolder);
  }
  const { bytes } = await readServer(pool);
  return notChecked(
    `The database has ${formatBytes(bytes)}; Postgres does not report the free disk of its server.`,
    'Let your monitoring watch the disk of the database server.',
  );
}

/** A process opens at most so many. */
const connectionsOfProcess = 20;

export function checkConnections({
  connections,
  maxConnections,
}: {
  connections: number;
  maxConnections: number;
}): Finding {
  const found = `${connections} of ${maxConnections} connections are in use.`;
  if (maxConnections - connections >= connectionsOfProcess) return ok(found);
  return warning(
    `${found} A Volley process opens up to ${connectionsOfProcess}.`,
    'Raise max_connections of Postgres, or stop clients that need none.',
  );
}

/** Volley's own transactions take seconds. Of a session whose begin is hidden, only its transactions are known. */
const oldSnapshot = { milliseconds: 600_000, transactions: 100_000 } as const;

/** A dispatch changes some rows thousands of times; each version that stays is read again by every later change. */
export function checkSnapshots(holders: readonly SnapshotHolder[], now: Date): Finding {
  const [first, ...others] = holders.filter(({ since, transactions }) =>
    since === null
      ? transactions >= oldSnapshot.transactions
      : now.getTime() - since.getTime() >= oldSnapshot.milliseconds,
  );
  if (first === undefined) return ok('No session holds an old snapshot.');
  const { pid, application, role, activity, since } = first;
  const what = [application || 'without a name', `role ${role}`, ...(activity === null ? [] : [activity])];
  const begun =
    since === null
      ? `for ${first.transactions.toLocaleString('en')} transactions`
      : `since ${since.toISOString()}, for ${formatAge(now.getTime() - since.getTime())}`;
  const more =
    others.length === 0
      ? ''
      : ` So ${others.length === 1 ? 'has' : 'have'} ${count(others.length, 'other session')}.`;
  return warning(
    `Session ${pid} of Postgres (${what.join(', ')}) has a transaction open ${begun}. Until it ends, Postgres keeps every row version since then, and tables grow.${more}`,
    `Let a backup finish. Commit or close a forgotten session, or end it: \`SELECT pg_terminate_backend(${pid})\`; \`idle_in_transaction_session_timeout\` of its role ends the next one.`,
  );
}

/** Milliseconds: by how much Postgres is ahead of this machine, give or take half the time of its answer. */
type ClockDifference = { readonly ahead: number; readonly uncertainty: number };

async function measureClock(pool: Pool, now: () => Date): Promise<ClockDifference> {
  // The first query also opens the connection.
  await readServerTime(pool);
  const before = now().getTime();
  const there = (await readServerTime(pool)).getTime();
  const after = now().getTime();
  return { ahead: there - (before + after) / 2, uncertainty: (after - before) / 2 };
}

/** Milliseconds. A tick that is a minute late counts as missed. */
const clockLimits = { warning: 2_000, problem: 60_000 } as const;

export function checkClock({ ahead, uncertainty }: ClockDifference): Finding {
  const difference = Math.max(0, Math.abs(ahead) - uncertainty);
  if (difference < clockLimits.warning)
    return ok('The clocks of the database and of this machine agree, within 2 seconds.');
  const found = `The clock of the database is ${formatAge(difference)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine's. Schedules, windows and ages of delivery reports follow this machine's clock.`;
  const nextStep =
    'Compare both with the true time, and let NTP set them: `timedatectl set-ntp true` on the wrong one.';
  return difference < clockLimits.problem ? warning(found, nextStep) : problem(found, nextStep);
}

async function checkBackups(
  pool: Pool,
  { environment, workingFolder }: Settings,
  now: () => Date,
): Promise<Finding> {
  const home = findHome(environment, workingFolder) ?? 'VOLLEY_HOME';
  const reminder = `Back up the database, ${home} (claim marks, hash-key), the campaigns, accounts.yaml and its secrets: docs/how-to/backup.md.`;
  if (!environment['DATABASE_URL'])
    return notChecked(
      'Volley cannot know whether the embedded ledger is copied.',
      `Stop Volley, copy ${home} as a whole, and start it again: docs/how-to/backup.md. In production, use a Postgres with backups.`,
    );
  const { isOn, lastArchivedAt, lastFailedAt } = await readArchiving(pool);
  if (!isOn)
    return notChecked('Postgres archives no WAL, and Volley cannot know whether dumps are made.', reminder);
  if (lastFailedAt !== null && (lastArchivedAt === null || lastFailedAt > lastArchivedAt))
    return problem(
      `Postgres failed to archive its WAL ${formatAge(now().getTime() - lastFailedAt.getTime())} ago, and has archived none since.`,
      'See archive_command and the log of Postgres. Its disk fills up until archiving works again.',
    );
  const last =
    lastArchivedAt === null
      ? 'none yet'
      : `the last one ${formatAge(now().getTime() - lastArchivedAt.getTime())} ago`;
  return ok(`Postgres archives its WAL, ${last}. ${reminder}`);
}

/** Explains an embedded server that cannot be started, or a DATABASE_URL that names none. */
export function explainOpening(error: unknown): Finding {
  const nextStep = 'Correct DATABASE_URL or VOLLEY_HOME; `volley db status` shows which database is used.';
  return error instanceof InputError ? explainInput(error, nextStep) : problem(String(error), nextStep);
}

export async function checkConnection(
  pool: Pool,
  { description, warning: noted }: Pick<DatabaseLease, 'description' | 'warning'>,
): Promise<Finding> {
  try {
    await readServerTime(pool);
  } catch (error) {
    if (!isConnectionFailure(error) && !isTimeout(error)) throw error;
    const { words, code } = describeFailure(error);
    const nextStep = lacksPassword(error) ? correctLogin : connectionStep(code);
    return problem(`${description} cannot be reached: ${words}.`, nextStep);
  }
  const found = `${description} answers.`;
  if (noted === undefined) return ok(found);
  return warning(
    `${found} ${noted
      .replace(/^DATABASE_URL: /, '')
      .split(' Add ', 1)
      .join()}`,
    'Add `?sslmode=verify-full` to DATABASE_URL, and `&sslrootcert=FILE` for an authority of your own.',
  );
}

/** pg gives no code to its own time-outs. */
const isTimeout = (error: unknown): error is Error =>
  error instanceof Error && /timeout/i.test(error.message);

function describeFailure(error: Error): { readonly words: string; readonly code: string } {
  // Several addresses of a name.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const cause = first instanceof Error ? first : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  // Postgres and pg have words of their own; the system has codes.
  const words = 'syscall' in cause ? describeError(cause) : connectionReason(cause).replace(/\.$/, '');
  return { words: words || 'no answer', code };
}

const correctLogin = 'Correct user and password in DATABASE_URL, or pg_hba.conf of Postgres.';

function connectionStep(code: string): string {
  if (code.startsWith('28')) return correctLogin;
  if (code.startsWith('3D')) return 'Correct the name of the database in DATABASE_URL, or create it.';
  if (code === '53300') return 'Stop clients that need no connection, or raise max_connections of Postgres.';
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'Correct the host in DATABASE_URL, or the name server.';
  return 'Start Postgres there, or correct host and port in DATABASE_URL; then see the firewall.';
}
