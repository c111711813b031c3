import { InputError } from '../domain/problems.ts';
import { addressList } from './address-list.ts';
import { type EmbeddedServerLease, embeddedServerStatus, leaseEmbeddedServer } from './embedded-postgres.ts';
import { requireHome } from './project.ts';
import type { Environment } from './secrets.ts';

/** What `pg.Client`, `pg.Pool` and knex take as a connection. It holds a password: never log it. */
export type DatabaseConnection =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

export type DatabaseLease = {
  readonly connection: DatabaseConnection;
  /** Which database it is, in words that may be shown: without user or password. */
  readonly description: string;
  /** What the operator should know of how it is reached. */
  readonly warning?: string;
  /** As in `EmbeddedServerLease`; does nothing about a database of somebody else's. */
  readonly revive: EmbeddedServerLease['revive'];
  /** To be called when the connections are closed; it stops an embedded server that nobody else uses. */
  release(): Promise<void>;
};

/**
 * The database a command works on: the one in DATABASE_URL, else that of the embedded server in VOLLEY_HOME or the project.
 *
 * @param mayMake whether an embedded server is made where there is none
 * @throws InputError when DATABASE_URL is not the address of a Postgres database, or there is no embedded server, or it
 *   cannot be started
 */
export async function leaseDatabase(
  environment: Environment,
  workingFolder: string,
  mayMake: boolean,
): Promise<DatabaseLease> {
  const url = environment['DATABASE_URL'];
  if (url) {
    const nothing = async (): Promise<void> => undefined;
    const description = describeUrl(url);
    const lease = { connection: { connectionString: url }, description, revive: nothing, release: nothing };
    return isReadable(url, environment) ? { ...lease, warning: readableWarning } : lease;
  }
  const place = requireHome(environment, workingFolder);
  if (!mayMake && !embeddedServerStatus(place).exists) throw noLedger(place);
  const { address, home, revive, release } = await leaseEmbeddedServer(place);
  const description = `embedded Postgres in ${home} (${address.host}:${address.port}, database ${address.database})`;
  return { connection: address, description, revive, release };
}

/** Of a place where a ledger could be, and is not: an empty one would know of no suppressions and no earlier runs. */
export function noLedger(where: string): InputError {
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

const readableWarning =
  'DATABASE_URL: The database is on another machine, and the connection is not encrypted: who listens on the way reads addresses, messages and the password. Add ?sslmode=verify-full to it (with &sslrootcert=FILE where the authority is your own).';

const loopback = addressList(['127.0.0.0/8', '::1/128']);

/** Whether what goes to the database can be read on the way: it is on another machine, and TLS is not asked for. */
function isReadable(text: string, environment: Environment): boolean {
  const url = new URL(text);
  const host = (url.searchParams.get('host') ?? url.hostname).replace(/^\[|\]$/g, '');
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

/** Codes of the network; those of files, such as ENOSPC, say nothing of a database. */
const networkCodes =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN|RESET)|ENOTFOUND|EAI_[A-Z]+|EADDRNOTAVAIL|EPROTO|ENOTCONN)$/;

/** Failures of the connection, and Postgres's refusals at log-in and shutdown (classes 08, 28, 3D, 57P). */
export function isConnectionFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(08...|28...|3D...|57P..|53300)$/.test(code) || error instanceof AggregateError) return true;
  if (networkCodes.test(code)) return true;
  // A socket that is a file can be missing or forbidden.
  if ('syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo')) return true;
  // What pg says of a connection that ends in the middle of a query has no code; knex puts the query before it.
  return /(^| - )(Connection terminated|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );
}

/** What Postgres itself runs short of (class 53); it answers, and has lost nothing. */
const shortages: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53400': 'a limit of its configuration is reached',
};

/** In words; undefined for an error that is none of that. */
export function databaseShortage(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const shortage = typeof code === 'string' && Object.hasOwn(shortages, code) ? shortages[code] : undefined;
  return shortage === undefined ? undefined : `${shortage} (${code})`;
}

/**
 * The SQLSTATE by which Postgres refuses what it was given: a value (class 22), a constraint (23), a limit of the program
 * (54). The same again is refused again. Undefined for every other failure.
 */
export function refusalCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(22|23|54)[0-9A-Z]{3}$/.test(code) ? code : undefined;
}

/** What went wrong, in words that may be logged: where Postgres minds a value it quotes it, which may be a contact's. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^2[23]...$/.test(code) ? `Postgres refuses a value (${code})` : error.message;
}
