import { readFileSync } from 'node:fs';
import { InputError } from '../domain/problems.ts';
import { namesThisMachine } from './address-list.ts';
import {
  type EmbeddedServerLease,
  hasEmbeddedData,
  leaseEmbeddedServer,
  type ServerAddress,
} from './embedded-postgres.ts';
import { unreadableReason } from './file-error.ts';
import { requireHome } from './project.ts';
import type { Environment } from './secrets.ts';

/** Connection options for `pg.Client`, `pg.Pool` and knex. Never log it: it contains a password. */
export type DatabaseConnection = { readonly connectionString: string } | ServerAddress;

export type DatabaseLease = {
  readonly connection: DatabaseConnection;
  /** Names the database without user and password. */
  readonly description: string;
  /** Anything the operator should know about the connection. */
  readonly warning?: string;
  /** See `EmbeddedServerLease`. Does nothing for an external database. */
  readonly restartIfEnded: EmbeddedServerLease['restartIfEnded'];
  /** Call it when all connections are closed. The last release stops the embedded server. */
  release(): Promise<void>;
};

/**
 * Returns the database in DATABASE_URL, or else that of the embedded server in VOLLEY_HOME or the project.
 *
 * @param canCreate whether to create a missing embedded server
 * @throws InputError if DATABASE_URL is invalid, or if the embedded server is missing or cannot be started
 */
export async function leaseDatabase(
  environment: Environment,
  workingFolder: string,
  canCreate: boolean,
): Promise<DatabaseLease> {
  const external = namedDatabase(environment, 'DATABASE_URL');
  if (external) {
    const doNothing = async (): Promise<void> => undefined;
    return { ...external, restartIfEnded: doNothing, release: doNothing };
  }
  const namedHome = requireHome(environment, workingFolder);
  if (!canCreate && !hasEmbeddedData(namedHome)) throw noLedgerError(namedHome);
  const { address, home, restartIfEnded, release } = await leaseEmbeddedServer(namedHome);
  const description = `embedded Postgres in ${home} (database ${address.database})`;
  return { connection: address, description, restartIfEnded, release };
}

/** A standby of the ledger's Postgres, for what only reads. */
export type ReplicaSettings = NamedDatabase & {
  /** Seconds that it may be behind. */
  readonly maxAge: number;
  /** Whether a report is refused when the replica cannot be read. Otherwise the primary is read. */
  readonly isRequired: boolean;
};

/**
 * Reads DATABASE_READ_URL and VOLLEY_READ_REPLICA.
 *
 * @returns undefined without a replica
 * @throws InputError
 */
export function replicaSettings(environment: Environment): ReplicaSettings | undefined {
  const database = namedDatabase(environment, 'DATABASE_READ_URL');
  const name = 'VOLLEY_READ_REPLICA';
  const [, mode, count, unit] =
    /^(prefer|require)(?: ([1-9]\d{0,4})([smh]))?$/.exec(environment[name] || 'prefer') ?? [];
  if (mode === undefined) {
    const what =
      'Expected "prefer" or "require", and how old the replica may be, such as "prefer 60s". With "prefer", reports are read from the primary when the replica is older or away; with "require" they are refused.';
    throw new InputError([{ where: name, what }]);
  }
  if (database === undefined) return undefined;
  const seconds = { s: 1, m: 60, h: 3_600 }[unit ?? 's'] ?? 1;
  return { ...database, maxAge: Number(count ?? 60) * seconds, isRequired: mode === 'require' };
}

type NamedDatabase = Pick<DatabaseLease, 'connection' | 'description' | 'warning'>;

function namedDatabase(environment: Environment, name: string): NamedDatabase | undefined {
  const connectionString = environment[name];
  if (!connectionString) return undefined;
  const url = URL.parse(connectionString);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    // Does not repeat the value: it may contain a password.
    const what =
      'is not the address of a Postgres database. Write postgres://user:password@host:5432/database, with special characters in the password percent-encoded, or unset it.';
    throw new InputError([{ where: name, what }]);
  }
  requireCertificates(url, name);
  const description = `Postgres at ${url.host || 'the local socket'}${url.pathname}`;
  const database = { connection: { connectionString }, description };
  return isUnencrypted(url, environment) ? { ...database, warning: unencryptedWarning(name) } : database;
}

/** An empty ledger would know no suppressions and no earlier runs. */
export function noLedgerError(where: string): InputError {
  const what =
    'has no ledger yet. Run `volley init` to create an empty one here, or set DATABASE_URL or VOLLEY_HOME to an existing one.';
  return new InputError([{ where, what }]);
}

/** pg reads these files at its first connection. @throws InputError for one that cannot be read */
function requireCertificates({ searchParams }: URL, where: string): void {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = searchParams.get(name);
    if (!path) continue;
    try {
      readFileSync(path);
    } catch (error) {
      const what = `The file of "${name}" cannot be read (${unreadableReason(error)}). Correct its path.`;
      throw new InputError([{ where, what }], { cause: error });
    }
  }
}

const unencryptedWarning = (name: string): string =>
  `${name}: The database is on another machine, and the connection is not encrypted. Anyone on the network can read addresses, messages and the password. Add ?sslmode=verify-full (and &sslrootcert=FILE for a certificate authority of your own).`;

/** Whether the connection leaves this machine without TLS. */
function isUnencrypted(url: URL, environment: Environment): boolean {
  const host = (url.searchParams.get('host') ?? decodeURIComponent(url.hostname)).replace(/^\[|\]$/g, '');
  const isHere = host === '' || host.startsWith('/') || namesThisMachine(host);
  if (isHere) return false;
  // Like `pg`: a parameter that requests TLS requires it, and the URL overrides the environment.
  const mode = url.searchParams.get('sslmode');
  if (mode !== null) return mode === 'disable';
  const ssl = url.searchParams.get('ssl');
  if (ssl !== null) return ssl === 'false' || ssl === '0';
  if (url.searchParams.has('sslcert') || url.searchParams.has('sslrootcert')) return false;
  return ['disable', 'allow'].includes(environment['PGSSLMODE'] ?? 'disable');
}
