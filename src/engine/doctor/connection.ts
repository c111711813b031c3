import type { Finding } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import { describeError } from '../../gateway/evidence.ts';
import { readServerTime } from '../../ledger/operations/server.ts';
import type { DatabaseLease } from '../../platform/database.ts';
import { connectionReason, isConnectionFailure, lacksPassword } from '../../platform/database-failures.ts';
import { explainInput, ok, type Pool, problem, warning } from './check.ts';

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
    const { words, code } = describe(error);
    const nextStep = lacksPassword(error) ? correctLogin : nextStepFor(code);
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

function describe(error: Error): { readonly words: string; readonly code: string } {
  // Several addresses of a name.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const cause = first instanceof Error ? first : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  // Postgres and pg have words of their own; the system has codes.
  const words = 'syscall' in cause ? describeError(cause) : connectionReason(cause).replace(/\.$/, '');
  return { words: words || 'no answer', code };
}

const correctLogin = 'Correct user and password in DATABASE_URL, or pg_hba.conf of Postgres.';

function nextStepFor(code: string): string {
  if (code.startsWith('28')) return correctLogin;
  if (code.startsWith('3D')) return 'Correct the name of the database in DATABASE_URL, or create it.';
  if (code === '53300') return 'Stop clients that need no connection, or raise max_connections of Postgres.';
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'Correct the host in DATABASE_URL, or the name server.';
  return 'Start Postgres there, or correct host and port in DATABASE_URL; then see the firewall.';
}
