import type { EngineContext } from '../../engine/context.ts';
import type { DrainDeadlines } from '../../engine/dispatch/drain.ts';
import type { Observer } from '../../engine/dispatch/observer.ts';
import { createOutageRetry } from '../../engine/dispatch/outage-retry.ts';
import { runWorker } from '../../engine/dispatch/worker.ts';
import { notifyPollInterval, runNotifier } from '../../engine/notify/notifier.ts';
import type { Logger } from '../../platform/logger.ts';
import { holdNext } from '../../report/wait-words.ts';
import { createNotifyOptions } from '../runs/notify-about-run.ts';
import { accountLoader } from '../runs/surroundings.ts';
import type { Shell } from '../shell.ts';
import type { Planner } from './planner/planner.ts';

export type Work = {
  readonly worker: boolean;
  readonly schedules: boolean;
  readonly campaigns: string;
};

type WorkTools = {
  readonly logger: Logger;
  readonly observer: Partial<Omit<Observer, 'runEnded' | 'clockSteppedBack' | 'decided'>>;
  readonly stop: AbortSignal;
  readonly deadlines: DrainDeadlines;
  readonly planner: Planner;
};

/** Works until it is stopped, and drains. If an outage lasts until then, ends the process with unrecorded requests in doubt. */
export async function workUntilStopped(
  shell: Shell,
  context: EngineContext,
  { worker, schedules, campaigns }: Work,
  { logger, observer, stop, deadlines, planner }: WorkTools,
): Promise<void> {
  const failed = new AbortController();
  const end = AbortSignal.any([stop, failed.signal]);
  const accountNamed = accountLoader(shell);
  const outage = {
    onDown: ({ message }: Error) => logger.warn({ reason: message }, 'database outage; waiting'),
    onUp: () => logger.info('database outage over; continuing'),
  };
  const notifying = worker
    ? runNotifier(context, {
        tools: createNotifyOptions(shell, campaigns, planner.findCommand),
        pollInterval: notifyPollInterval,
        logger,
        stop: end,
        cutOff: deadlines.cutOff,
      })
    : undefined;
  const scheduling = schedules ? planner.keepSchedules(end) : undefined;
  let unfinished = 0;
  try {
    if (worker) {
      logger.info('worker started');
      await runWorker(context, {
        accountNamed,
        onUnknownAccount: ({ message }) =>
          logger.warn({ reason: message }, 'account cannot be used here; other workers send its requests'),
        observer: withLogging(observer, logger),
        onSliceFailed: () => unfinished++,
        stop: end,
        cutOff: deadlines.cutOff,
        onHold: skipRepetitions((reason) => logger.error({ reason }, holdNext)),
        outageRetry: createOutageRetry(outage, context.ledger, deadlines.giveUp),
      });
      logger.info('worker stopped');
    }
  } catch (error) {
    failed.abort();
    if (!deadlines.giveUp.aborted) throw error;
    const doubt = unfinished > 0 ? 'what could not be recorded is in doubt' : 'nothing was in flight';
    logger.error(`database outage until the end; ${doubt}`);
    shell.leave(1);
  } finally {
    await scheduling;
    await notifying;
  }
}

function skipRepetitions(write: (words: string) => void): (text: string) => void {
  let last = '';
  return (words) => {
    if (words !== last) write(words);
    last = words;
  };
}

/** Logs run and MessageID only: the service's words can contain an address. */
function withLogging(observer: WorkTools['observer'], logger: Logger): Partial<Observer> {
  let last = '';
  return {
    ...observer,
    settled(request) {
      observer.settled?.(request);
      if (request.state === 'in_doubt') logger.warn(request, 'request in doubt');
      else if (request.state !== 'accepted') logger.debug(request, 'request not accepted');
    },
    clockSteppedBack(account, milliseconds) {
      logger.warn(
        { account, seconds: milliseconds / 1_000 },
        'the clock of the database was set back; reservations of the account keep their order',
      );
    },
    decided: (run) => logger.info(run, 'decided about the run'),
    runEnded({ account, run, state }) {
      // Each slice of the run reports its end.
      if (last === `${run} ${state}`) return;
      last = `${run} ${state}`;
      if (state === 'completed') logger.info({ account, run, state }, 'run completed');
      else logger.warn({ account, run, state }, 'run stopped; see `volley status`');
    },
  };
}

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
