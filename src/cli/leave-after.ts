import type { Logger } from '../platform/logger.ts';
import type { Shell } from './shell.ts';

/** The time to be gone within after the last deadline (milliseconds). */
const closingTime = 1_000;

/** What hangs longer, as a plan of millions does, is ended as safely as by a kill. */
export function leaveAfter(giveUp: AbortSignal, shell: Shell, logger: Logger): void {
  const leave = (): never => {
    logger.error('not everything could be closed in time');
    return shell.leave(1);
  };
  giveUp.addEventListener('abort', () => setTimeout(leave, closingTime).unref(), { once: true });
}
