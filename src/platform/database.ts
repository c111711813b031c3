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
  const url = environment['DATABASE_URL'];
  if (url) {
    const doNothing = async (): Promise<void> => undefined;
    const description = describeUrl(url);
    requireCertificates(url);
    const lease = {
      connection: { connectionString: url },
      description,
      restartIfEnded: doNothing,
      release: doNothing,
    };
    return isUnencrypted(url, environment) ? { ...lease, warning: unencryptedWarning } : lease;
  }
  const namedHome = requireHome(environment, workingFolder);
  if (!canCreate && !hasEmbeddedData(namedHome)) throw noLedgerError(namedHome);
  const { address, home, restartIfEnded, release } = await leaseEmbeddedServer(namedHome);
  const description = `embedded Postgres in ${home} (database ${address.database})`;
  return { connection: address, description, restartIfEnded, release };
}

/** An empty ledger would know no suppressions and no earlier runs. */
export function noLedgerError(where: string): InputError {
  const what =
    'has no ledger yet. Run `volley init` to create an empty one here, or set DATABASE_URL or VOLLEY_HOME to an existing one.';
  return new InputError([{ where, what }]);
}

function describeUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    // Does not repeat the value: it may contain a password.
    const what =
      'is not the address of a Postgres database. Write postgres://user:password@host:5432/database, with special characters in the password percent-encoded, or unset it to use the embedded server.';
    throw new InputError([{ where: 'DATABASE_URL', what }]);
  }
  return `Postgres at ${url.host || 'the local socket'}${url.pathname}`;
}

/** pg reads these files at its first connection. @throws InputError for one that cannot be read */
function requireCertificates(text: string): void {
  const { searchParams } = new URL(text);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = searchParams.get(name);
    if (!path) continue;
    try {
      readFileSync(path);
    } catch (error) {
      const what = `The file of "${name}" cannot be read (${unreadableReason(error)}). Correct its path.`;
      throw new InputError([{ where: 'DATABASE_URL', what }], { cause: error });
    }
  }
}

const unencryptedWarning =
  'DATABASE_URL: The database is on another machine, and the connection is not encrypted. Anyone on the network can read addresses, messages and the password. Add ?sslmode=verify-full (and &sslrootcert=FILE for a certificate authority of your own).';

/** Whether the connection leaves this machine without TLS. */
function isUnencrypted(text: string, environment: Environment): boolean {
  const url = new URL(text);
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
