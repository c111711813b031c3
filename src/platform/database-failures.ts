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
export function rejectedValueCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(22|23|54)[0-9A-Z]{3}$/.test(code) ? code : undefined;
}

/** What went wrong, in words that may be logged: where Postgres minds a value it quotes it, which may be a contact's. */
export function loggableReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^2[23]...$/.test(code) ? `Postgres refuses a value (${code})` : error.message;
}
