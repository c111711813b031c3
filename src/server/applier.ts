import { setTimeout as sleep } from 'node:timers/promises';
import { bookBilling } from '../engine/billing/billing.ts';
import type { EngineContext } from '../engine/context.ts';
import { applyInbox, deleteExpiredCalls, type InboxOptions } from '../engine/delivery-reports/apply-inbox.ts';
import { loggableReason } from '../platform/database-failures.ts';
import type { Logger } from '../platform/logger.ts';

export type Applier = {
  /** Says that there may be something in the inbox. */
  wake(): void;
  /** Resolves when the batches under way are applied; what is left in the inbox is applied later. */
  stop(): Promise<void>;
};

/** For so many times as long as a batch took, others have the processor. */
const waysGiven = 4;

/**
 * Between two looks without a report that has arrived (milliseconds): some fall due later, others were received by a
 * process that is gone. So long, too, between two bookings.
 */
const usualLook = 10_000;

const waitAfterFailure = 1_000;

/** A piece of work that is done again and again, never twice at once. A failure is logged once, not every second. */
type Repeated = {
  /** Does it, once more where it is under way. */
  readonly go: () => void;
  readonly over: () => Promise<void>;
};

/**
 * Applies the inbox in the background, one pass at a time; what arrives during a pass gets another. Beside it, and
 * whether or not a pass ever ends, what is applied is booked for billing every ten seconds.
 */
export function startApplier(
  context: EngineContext,
  work: Omit<InboxOptions, 'shouldContinue'>,
  logger: Logger,
  lookEvery = usualLook,
): Applier {
  let arrived = false;
  let stopped = false;

  /** As long as reports arrive, taking them goes before applying them: a caller waits for its answer. */
  async function giveWay(took: number): Promise<boolean> {
    if (arrived && !stopped) {
      arrived = false;
      await sleep(waysGiven * took);
    }
    return !stopped;
  }

  function repeated(failure: string, act: () => Promise<unknown>): Repeated {
    let pass: Promise<void> | undefined;
    let again = false;
    let failing = '';
    let timer: NodeJS.Timeout | undefined;

    async function run(): Promise<void> {
      do {
        again = false;
        try {
          await act();
          failing = '';
        } catch (error) {
          const reason = loggableReason(error);
          if (reason !== failing) logger.error({ error: reason }, failure);
          failing = reason;
          timer = setTimeout(go, waitAfterFailure);
        }
      } while (again && !stopped);
      pass = undefined;
    }

    function go(): void {
      again = true;
      if (!stopped) pass ??= run();
    }

    return {
      go,
      over: async () => {
        clearTimeout(timer);
        await pass;
      },
    };
  }

  const applying = repeated('reports not applied; trying again', async () => {
    const reports = await applyInbox(context, { ...work, shouldContinue: giveWay });
    if (reports > 0) logger.debug({ reports }, 'reports applied');
  });
  const booking = repeated('billing not booked; trying again', async () => {
    await bookBilling(context, () => !stopped);
    await deleteExpiredCalls(context);
  });

  const looking = setInterval(() => {
    applying.go();
    booking.go();
  }, lookEvery);

  return {
    wake() {
      arrived = true;
      applying.go();
    },
    stop: async () => {
      stopped = true;
      clearInterval(looking);
      await Promise.all([applying.over(), booking.over()]);
    },
  };
}
