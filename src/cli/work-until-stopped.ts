import type { EngineContext } from '../engine/context.ts';
import type { DrainDeadlines } from '../engine/dispatch/drain.ts';
import type { Observer } from '../engine/dispatch/observer.ts';
import { createOutageRetry } from '../engine/dispatch/outage-retry.ts';
import { runWorker } from '../engine/dispatch/worker.ts';
import { notifyPollInterval, runNotifier } from '../engine/notify/notifier.ts';
import type { Logger } from '../platform/logger.ts';
import { accountLoader } from './account-loader.ts';
import { createNotifyOptions } from './notify-about-run.ts';
import type { Planner } from './planner/planner.ts';
import type { Shell } from './shell.ts';

export type Work = {
  /** Helps to send whatever runs there are. */
  readonly worker: boolean;
  /** Begins the runs of campaigns whose time has come. */
  readonly schedules: boolean;
  readonly campaigns: string;
};

export type WorkTools = {
  readonly logger: Logger;
  /** Who counts; what is to be told of a dispatch in words is logged here. */
  readonly observer: Omit<Observer, 'runEnded' | 'clockSteppedBack'>;
  readonly stop: AbortSignal;
  readonly deadlines: DrainDeadlines;
  readonly planner: Planner;
};

/**
 * Works until it is stopped, and drains then. Leaves the process where the database was away until the end: what could
 * not be recorded is in doubt.
 *
 * @throws Error when the ledger fails otherwise than by being away
 */
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
    onDown: ({ message }: Error) => logger.warn({ reason: message }, 'the database is away; waiting'),
    onUp: () => logger.info('the database is back; going on'),
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
          logger.warn({ reason: message }, 'an account cannot be used here; its requests are left to others'),
        observer: withLogging(observer, logger),
        onSliceFailed: () => unfinished++,
        stop: end,
        cutOff: deadlines.cutOff,
        onHeld: skipRepetitions((reason) =>
          logger.error({ reason }, 'the ledger is held: nothing is sent until `volley db restored` says so'),
        ),
        outageRetry: createOutageRetry(outage, context.ledger, deadlines.giveUp),
      });
      logger.info('worker stopped');
    }
  } catch (error) {
    failed.abort();
    if (!deadlines.giveUp.aborted) throw error;
    const doubt = unfinished > 0 ? 'what could not be recorded is in doubt' : 'nothing was being sent';
    logger.error(`the database was away until the end; ${doubt}`);
    shell.leave(1);
  } finally {
    await scheduling;
    await notifying;
  }
}

/** Says the same words again only after others. */
function skipRepetitions(write: (words: string) => void): (text: string) => void {
  let last = '';
  return (words) => {
    if (words !== last) write(words);
    last = words;
  };
}

/** Logs what somebody may have to look into, by run and MessageID; never the words of the service, which may hold an address. */
function withLogging(observer: WorkTools['observer'], logger: Logger): Observer {
  let last = '';
  return {
    ...observer,
    settled(request) {
      observer.settled(request);
      if (request.state === 'in_doubt') logger.warn(request, 'a request is in doubt');
      else if (request.state !== 'accepted') logger.debug(request, 'a request was not accepted');
    },
    clockSteppedBack(account, milliseconds) {
      logger.warn(
        { account, seconds: milliseconds / 1_000 },
        'the clock of the database was set back; what is owed by the rate of the account stays what it was',
      );
    },
    runEnded({ account, run, state }) {
      // Each slice of the run says so.
      if (last === `${run} ${state}`) return;
      last = `${run} ${state}`;
      if (state === 'completed') logger.info({ account, run, state }, 'a run is completed');
      else logger.warn({ account, run, state }, 'a run is sent no more; `volley status` says why');
    },
  };
}
