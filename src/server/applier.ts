import { setTimeout as sleep } from 'node:timers/promises';
import { bookBilling } from '../engine/billing/billing.ts';
import type { EngineContext } from '../engine/context.ts';
import { applyInbox, type MappingOf } from '../engine/reports/ingest.ts';
import { reasonOf } from '../platform/database.ts';
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
 * process that is gone.
 */
const usualLook = 10_000;

/** Wait before the inbox is tried again when the database is away (milliseconds). */
const waitAfterFailure = 1_000;

/** Applies the inbox in the background, and books it for billing: one pass at a time; what arrives during a pass gets another. */
export function startApplier(
  context: EngineContext,
  mappingOf: MappingOf,
  logger: Logger,
  onApplied: (reports: number) => void,
  lookEvery = usualLook,
): Applier {
  let pass: Promise<void> | undefined;
  let again = false;
  let arrived = false;
  let stopped = false;
  let bookingDue = true;
  let timer: NodeJS.Timeout | undefined;
  /** Told once, not every second. */
  let failing = '';

  /** As long as reports arrive, taking them goes before applying them: a caller waits for its answer. */
  async function giveWay(took: number): Promise<boolean> {
    if (arrived && !stopped) {
      arrived = false;
      await sleep(waysGiven * took);
    }
    return !stopped;
  }

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        const applied = await applyInbox(context, mappingOf, giveWay);
        onApplied(applied);
        failing = '';
        if (applied > 0) logger.debug({ reports: applied }, 'reports applied');
        if (bookingDue && !stopped) {
          bookingDue = false;
          await bookBilling(context);
        }
      } catch (error) {
        const reason = reasonOf(error);
        if (reason !== failing) logger.error({ error: reason }, 'reports not applied; trying again');
        failing = reason;
        timer = setTimeout(look, waitAfterFailure);
      }
    } while (again && !stopped);
    pass = undefined;
  }

  function look(): void {
    again = true;
    if (!stopped) pass ??= run();
  }

  function wake(): void {
    arrived = true;
    look();
  }

  // What has become of recipients is booked now and then, so that a billing report has little left to do.
  const looking = setInterval(() => {
    bookingDue = true;
    look();
  }, lookEvery);

  return {
    wake,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      clearInterval(looking);
      await pass;
    },
  };
}
