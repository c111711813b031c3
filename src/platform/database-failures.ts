import { codeOf } from './file-error.ts';

/** Network errors only; file errors such as ENOSPC say nothing about a database. */
const networkCodes =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN|RESET)|ENOTFOUND|EAI_[A-Z]+|EADDRNOTAVAIL|EPROTO|ENOTCONN)$/;

/** Connection failures, and refusals by Postgres at login and shutdown (classes 08, 28, 3D, 57P). */
export function isConnectionFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error) ?? '';
  if (/^(08...|28...|3D...|57P..|53300)$/.test(code) || error instanceof AggregateError) return true;
  if (networkCodes.test(code) || lacksPassword(error)) return true;
  // The socket may be a file, which can be missing or forbidden.
  if ('syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo')) return true;
  // pg gives no code if a connection ends during a query; knex adds the query.
  return /(^| - )(Connection terminated|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );
}

/** Connection failures, and all that Postgres reports: an error with a SQLSTATE. */
export function isOfDatabase(error: unknown): error is Error {
  return isConnectionFailure(error) || /^(?=.*\d)[0-9A-Z]{5}$/.test(codeOf(error) ?? '');
}

/** Whether Postgres asked for a password that neither DATABASE_URL nor the environment has. pg gives no code. */
export function lacksPassword(error: Error): boolean {
  return /^SASL: .*client password must be/.test(error.message);
}

/** Why the database cannot be reached, in the words of the system, of Postgres or of pg. */
export function connectionReason(error: Error): string {
  return lacksPassword(error) ? 'it asks for a password, and DATABASE_URL has none' : error.message;
}

/** Postgres ran out of something (class 53), but answers and lost nothing. */
const shortages: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53400': 'a limit of its configuration is reached',
};

/** Undefined for other errors. */
export function databaseShortage(error: unknown): string | undefined {
  const code = codeOf(error) ?? '';
  const shortage = Object.hasOwn(shortages, code) ? shortages[code] : undefined;
  return shortage === undefined ? undefined : `${shortage} (${code})`;
}

/**
 * The SQLSTATE with which Postgres rejected a value (class 22), a constraint (23) or a size (54). A retry would
 * fail too.
 */
export function rejectedValueCode(error: unknown): string | undefined {
  return /^(?:22|23|54)[0-9A-Z]{3}$/.exec(codeOf(error) ?? '')?.[0];
}

/** A message that may be logged. Postgres quotes a value that it rejects, which may be a contact's. */
export function loggableReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { message } = error;
  const code = codeOf(error) ?? '';
  if (/^2[23]...$/.test(code)) return `Postgres refuses a value (${code})`;
  // knex adds the query.
  return isOfDatabase(error) ? message.replace(/^.* - /s, '') : message;
}
