import { InputError } from '../domain/problems.ts';
import { createAddressList } from './address-list.ts';
import {
  type EmbeddedServerLease,
  embeddedDataExist,
  leaseEmbeddedServer,
  type ServerAddress,
} from './embedded-postgres.ts';
import { requireHome } from './project.ts';
import type { Environment } from './secrets.ts';

/** What `pg.Client`, `pg.Pool` and knex take as a connection. It holds a password: never log it. */
export type DatabaseConnection = { readonly connectionString: string } | ServerAddress;

export type DatabaseLease = {
  readonly connection: DatabaseConnection;
  /** Which database it is, in words that may be shown: without user or password. */
  readonly description: string;
  /** What the operator should know of how it is reached. */
  readonly warning?: string;
  /** As in `EmbeddedServerLease`; does nothing about a database of somebody else's. */
  readonly restartIfEnded: EmbeddedServerLease['restartIfEnded'];
  /** To be called when the connections are closed; it stops an embedded server that nobody else uses. */
  release(): Promise<void>;
};

/**
 * The database a command works on: the one in DATABASE_URL, else that of the embedded server in VOLLEY_HOME or the project.
 *
 * @param canCreate whether an embedded server is made where there is none
 * @throws InputError when DATABASE_URL is not the address of a Postgres database, or there is no embedded server, or it
 *   cannot be started
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
    const lease = {
      connection: { connectionString: url },
      description,
      restartIfEnded: doNothing,
      release: doNothing,
    };
    return isUnencrypted(url, environment) ? { ...lease, warning: unencryptedWarning } : lease;
  }
  const namedHome = requireHome(environment, workingFolder);
  if (!canCreate && !embeddedDataExist(namedHome)) throw noLedgerError(namedHome);
  const { address, home, restartIfEnded, release } = await leaseEmbeddedServer(namedHome);
  const description = `embedded Postgres in ${home} (database ${address.database})`;
  return { connection: address, description, restartIfEnded, release };
}

/** Of a place where a ledger could be, and is not: an empty one would know of no suppressions and no earlier runs. */
export function noLedgerError(where: string): InputError {
  const what =
    'has no ledger yet. `volley init` makes a new, empty one here; if there is one elsewhere, name it by DATABASE_URL or VOLLEY_HOME.';
  return new InputError([{ where, what }]);
}

function describeUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    // The value itself is not repeated: it may hold a password.
    const what =
      'is not the address of a Postgres database. Write postgres://user:password@host:5432/database, with special characters in the password percent-encoded, or unset it to use the embedded server.';
    throw new InputError([{ where: 'DATABASE_URL', what }]);
  }
  return `Postgres at ${url.host || 'the local socket'}${url.pathname}`;
}

const unencryptedWarning =
  'DATABASE_URL: The database is on another machine, and the connection is not encrypted: who listens on the way reads addresses, messages and the password. Add ?sslmode=verify-full to it (with &sslrootcert=FILE where the authority is your own).';

const loopback = createAddressList(['127.0.0.0/8', '::1/128']);

/** Whether what goes to the database can be read on the way: it is on another machine, and TLS is not asked for. */
function isUnencrypted(text: string, environment: Environment): boolean {
  const url = new URL(text);
  const host = (url.searchParams.get('host') ?? decodeURIComponent(url.hostname)).replace(/^\[|\]$/g, '');
  const isHere = host === '' || host.startsWith('/') || host === 'localhost' || loopback.has(host);
  if (isHere) return false;
  // As `pg` reads them: what asks for TLS goes nowhere without it. The address says more than the environment.
  const mode = url.searchParams.get('sslmode');
  if (mode !== null) return mode === 'disable';
  const ssl = url.searchParams.get('ssl');
  if (ssl !== null) return ssl === 'false' || ssl === '0';
  if (url.searchParams.has('sslcert') || url.searchParams.has('sslrootcert')) return false;
  return ['disable', 'allow'].includes(environment['PGSSLMODE'] ?? 'disable');
}
