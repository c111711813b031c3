import { setTimeout as sleep } from 'node:timers/promises';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { checkLedgerLocation } from '../dispatch/ledger-location.ts';

export type WatchOptions = {
  /** Milliseconds. */
  readonly every: number;
  readonly logger: Logger;
  readonly stop: AbortSignal;
};

/**
 * Checks what is due, again and again, unless the ledger is on hold: the former ledger may already have sent it. Logs each
 * failure once, and tries again.
 *
 * @param what is checked, as the log calls it
 */
export async function checkPeriodically(
  context: EngineContext,
  what: string,
  { every, logger, stop }: WatchOptions,
  check: () => Promise<void>,
): Promise<void> {
  let loggedFailure = '';
  while (!stop.aborted) {
    try {
      const { onHold } = await checkLedgerLocation(context);
      if (onHold !== null) throw new Error(`the ledger is on hold: ${onHold}`);
      await check();
      loggedFailure = '';
    } catch (error) {
      const reason = loggableReason(error);
      if (reason !== loggedFailure) logger.error({ reason }, `${what} not checked; trying again`);
      loggedFailure = reason;
    }
    await sleep(every, undefined, { signal: stop }).catch(() => undefined);
  }
}
