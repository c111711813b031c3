import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../ledger/connection.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';

/** `down` and `up` enclose the time in which the ledger does not answer. */
export type Polled<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'down'; readonly error: Error }
  | { readonly kind: 'up' };

/**
 * Asks the ledger again and again, until the caller stops reading. Continues after an outage.
 *
 * @param interval milliseconds between two questions
 */
export async function* pollLedger<Answer>(
  { revive }: Pick<Ledger, 'revive'>,
  interval: number,
  ask: () => Promise<Answer>,
): AsyncGenerator<Polled<Answer>, void, undefined> {
  let isDown = false;
  for (;;) {
    const polled = await askOnce(ask);
    if (polled.kind === 'answer' && isDown) yield { kind: 'up' };
    if (polled.kind === 'answer' || !isDown) yield polled;
    isDown = polled.kind === 'down';
    // An embedded server that was killed is started again.
    if (isDown) await revive(() => undefined).catch(() => undefined);
    await sleep(interval);
  }
}

async function askOnce<Answer>(ask: () => Promise<Answer>): Promise<Polled<Answer>> {
  try {
    return { kind: 'answer', answer: await ask() };
  } catch (error) {
    if (isUnanswered(error)) return { kind: 'down', error };
    throw error;
  }
}

/** Monitoring connections have short time-outs: of a connection, a statement, and its answer. */
function isUnanswered(error: unknown): error is Error {
  if (isConnectionFailure(error)) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return code === '57014' || /time-?out/i.test(error.message);
}
