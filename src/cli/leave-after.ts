import type { Logger } from '../platform/logger.ts';
import type { Shell } from './shell.ts';

/** Milliseconds. */
const closingTime = 1_000;

/** Ends a process that does not close in time, for example while planning millions of contacts. Safe: every commit survives a kill. */
export function leaveAfter(giveUp: AbortSignal, shell: Shell, logger: Logger): void {
  const leave = (): never => {
    logger.error('process ended before everything was closed');
    return shell.leave(1);
  };
  giveUp.addEventListener('abort', () => setTimeout(leave, closingTime).unref(), { once: true });
}
