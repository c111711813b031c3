import { setTimeout as sleep } from 'node:timers/promises';
import { bookBilling } from '../engine/billing/billing.ts';
import type { EngineContext } from '../engine/context.ts';
import { applyInbox, type InboxOptions, tendInbox } from '../engine/delivery-reports/apply-inbox.ts';
import { foldSettledOutcomes, startFolding } from '../engine/delivery-reports/fold-outcomes.ts';
import type { FoldFence } from '../ledger/delivery-reports/fold-inbox.ts';
import { loggableReason } from '../platform/database-failures.ts';
import type { Logger } from '../platform/logger.ts';

/** While delivery reports arrive, this many times the duration of a batch passes before the next one. */
const restFactor = 4;

/** Milliseconds between rounds without an arrival, to match again and to apply delivery reports of other processes. */
const defaultInterval = 10_000;

const waitAfterFailure = 1_000;

/** Milliseconds. */
const defaultLogAgainAfter = 300_000;

/** Milliseconds. */
export type ApplierTimes = { readonly interval?: number; readonly logAgainAfter?: number };

/** Applies the inbox, books billing, and folds what is old. These tasks do not wait for each other. */
export function startApplier(
  context: EngineContext,
  work: Omit<InboxOptions, 'shouldContinue'>,
  logger: Logger,
  { interval = defaultInterval, logAgainAfter = defaultLogAgainAfter }: ApplierTimes = {},
) {
  let arrived = false;
  let stopped = false;

  let rests = Promise.resolve();

  /** Callers wait for an answer, so storing goes before applying, and one batch is applied at a time. */
  async function shouldContinue(batchDuration: number): Promise<boolean> {
    if (arrived && !stopped) {
      arrived = false;
      rests = rests.then(() => (stopped ? undefined : sleep(restFactor * batchDuration)));
      await rests;
    }
    return !stopped;
  }

  const log = { logger, logAgainAfter, context };
  const applying = createRepeatedTask(log, 'delivery reports not applied; trying again', async () => {
    const reports = await applyInbox(context, { ...work, shouldContinue });
    if (reports > 0) logger.debug({ reports }, 'delivery reports applied');
  });
  const booking = createRepeatedTask(log, 'billing not booked; trying again', async () => {
    await bookBilling(context, () => !stopped);
  });
  let fence: FoldFence | undefined;
  const folding = startFolding();
  const tending = createRepeatedTask(
    log,
    'inbox not tended, or outcomes not folded; trying again',
    async () => {
      fence = await tendInbox(context, fence);
      await foldSettledOutcomes(context, folding, () => !stopped);
    },
  );
  const timer = setInterval(() => {
    applying.run();
    booking.run();
    tending.run();
  }, interval);

  return {
    /** Starts a round: a delivery report may have arrived. */
    wake(): void {
      arrived = true;
      applying.run();
    },
    /** Waits for the present batches; the rest stays in the inbox. */
    stop: async (): Promise<void> => {
      stopped = true;
      clearInterval(timer);
      await Promise.all([applying.stop(), booking.stop(), tending.stop()]);
    },
  };
}

type TaskLog = {
  readonly logger: Logger;
  readonly logAgainAfter: number;
  readonly context: Pick<EngineContext, 'now' | 'monotonic'>;
};

/** A task that never runs twice at once. Consecutive equal failures are logged once, and again while they last. */
function createRepeatedTask(
  { logger, logAgainAfter, context: { now, monotonic } }: TaskLog,
  failure: string,
  task: () => Promise<unknown>,
) {
  let running: Promise<void> | undefined;
  let runAgain = false;
  let stopped = false;
  let last: { readonly reason: string; readonly since: Date; readonly loggedAt: number } | undefined;
  let retryTimer: NodeJS.Timeout | undefined;

  async function runRounds(): Promise<void> {
    do {
      runAgain = false;
      try {
        await task();
        last = undefined;
      } catch (error) {
        const reason = loggableReason(error);
        const since = last?.since ?? now();
        if (reason !== last?.reason || monotonic() - last.loggedAt >= logAgainAfter) {
          logger.error({ error: reason, since }, failure);
          last = { reason, since, loggedAt: monotonic() };
        }
        retryTimer = setTimeout(run, waitAfterFailure);
      }
    } while (runAgain && !stopped);
    running = undefined;
  }

  /** A running task runs again afterwards. */
  function run(): void {
    runAgain = true;
    if (!stopped) running ??= runRounds();
  }

  return {
    run,
    /** Waits for the present round. */
    stop: async (): Promise<void> => {
      stopped = true;
      clearTimeout(retryTimer);
      await running;
    },
  };
}
