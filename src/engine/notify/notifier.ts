import { setTimeout as sleep } from 'node:timers/promises';
import { type AcquiredNotification, acquireNotification } from '../../ledger/notifications/acquire.ts';
import { listUnstartedMailRuns } from '../../ledger/notifications/list.ts';
import { changeNotification } from '../../ledger/notifications/settle.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { beginPlannedRun } from '../runs/begin-run.ts';
import { trace } from '../trace-points.ts';
import { type NotifyOptions, type NotifyResult, sendNotification } from './send-notification.ts';

/** Milliseconds. */
export const notifyPollInterval = 1_000;

const maxConcurrent = 4;

/** Longer than any attempt (milliseconds). Then the notification of an ended process is due again. */
const acquisitionTime = 2 * 60_000;

/** Milliseconds. */
const warnAfter = 10 * 60_000;

type NotifierOptions = {
  readonly tools: NotifyOptions;
  /** Milliseconds between two looks; undefined: end when nothing is due. */
  readonly pollInterval: number | undefined;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly cutOff: AbortSignal;
};

/**
 * Sends notifications about runs and schedules. Any number of processes can do this. A failed notification is retried
 * for a day.
 */
export async function runNotifier(
  context: EngineContext,
  { tools, pollInterval, logger, stop, cutOff }: NotifierOptions,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  const deferred: Deferred = new Map();
  let lastFailure = '';
  while (!stop.aborted) {
    let acquired: AcquiredNotification | undefined;
    try {
      const ignored = deferredIds(deferred, context.monotonic());
      acquired = inFlight.size < maxConcurrent ? await acquireDue(context, ignored) : undefined;
      if (acquired) {
        const one = notifyAndRecord(context, acquired, { tools, logger, cutOff }, deferred).finally(() =>
          inFlight.delete(one),
        );
        inFlight.add(one);
        continue;
      }
      if (inFlight.size === 0) await beginMails(context, tools.accountNamed);
      lastFailure = '';
    } catch (error) {
      const reason = loggableReason(error);
      if (reason !== lastFailure) logger.error({ reason }, 'notifications could not be sent; retrying');
      lastFailure = reason;
    }
    if (pollInterval === undefined && inFlight.size === 0) break;
    const waited = new AbortController();
    const pause = sleep(pollInterval ?? notifyPollInterval, undefined, {
      signal: AbortSignal.any([stop, waited.signal]),
    });
    await Promise.race([pause.catch(() => undefined), ...inFlight]);
    waited.abort();
  }
  await Promise.all(inFlight);
}

async function acquireDue(
  context: EngineContext,
  ignored: readonly string[],
): Promise<AcquiredNotification | undefined> {
  const now = context.now();
  const until = new Date(now.getTime() + acquisitionTime);
  const acquired = await acquireNotification(context.ledger.pool, ignored, now, until);
  if (acquired) trace('notification acquired', acquired.notification);
  return acquired;
}

/** Never rejects. A result that could not be recorded is due again. */
async function notifyAndRecord(
  context: EngineContext,
  acquired: AcquiredNotification,
  { tools, logger, cutOff }: Pick<NotifierOptions, 'tools' | 'logger' | 'cutOff'>,
  deferred: Deferred,
): Promise<void> {
  const { notification, event, run, schedule, refused } = acquired;
  const about = run !== null ? { run } : schedule !== null ? { schedule } : { campaign: refused?.campaign };
  const logFields = { notification, event, ...about };
  try {
    const result = await sendNotification(context, acquired, tools, cutOff).catch(
      (error: unknown): NotifyResult => {
        return { kind: 'failed', problem: loggableReason(error) };
      },
    );
    if ('output' in result && result.output)
      logger.info({ ...logFields, output: result.output }, 'notify command wrote output');
    if (result.kind === 'unavailable') {
      const until = context.monotonic() + deferFor;
      deferred.set(notification, { until, warned: deferred.get(notification)?.warned ?? false });
    }
    await recordResult(context, acquired, result, { logger, deferred, logFields });
  } catch (error) {
    logger.error(
      { ...logFields, reason: loggableReason(error) },
      'notification result could not be recorded; the notification will be sent again',
    );
  }
}

async function recordResult(
  { ledger: { pool }, now, random }: EngineContext,
  acquired: AcquiredNotification,
  result: NotifyResult,
  {
    logger,
    deferred,
    logFields,
  }: {
    readonly logger: Logger;
    readonly deferred: Deferred;
    readonly logFields: object;
  },
): Promise<void> {
  const time = now();
  const age = time.getTime() - acquired.createdAt.getTime();
  const giveUp = (problem: string) =>
    changeNotification(pool, acquired, { to: 'given up', problem, endedAt: time });
  switch (result.kind) {
    case 'superseded':
      return;
    case 'mailed':
      return logger.info(
        { ...logFields, mail: result.run },
        'notification e-mail planned as a run of its own',
      );
    case 'acknowledged':
      await changeNotification(pool, acquired, { to: 'acknowledged', endedAt: time });
      return logger.info(logFields, 'notification acknowledged');
    case 'unsubscribed':
      await giveUp(result.problem);
      return logger.warn(
        { ...logFields, problem: result.problem },
        'notification refused; it will not be sent again',
      );
    case 'unavailable': {
      const { problem } = result;
      if (age >= notifyWithin) break;
      const { attempts, notification } = acquired;
      await changeNotification(pool, acquired, { to: 'due', problem, dueAt: time, attempts });
      const noted = deferred.get(notification);
      if (age < warnAfter || !noted || noted.warned) return;
      noted.warned = true;
      return logger.warn({ ...logFields, problem }, 'notification still due; this process cannot send it');
    }
    case 'failed': {
      const attempts = acquired.attempts + 1;
      const wait = notifyBackoff(attempts, random());
      if (age + wait >= notifyWithin) break;
      const dueAt = new Date(time.getTime() + wait);
      await changeNotification(pool, acquired, { to: 'due', problem: result.problem, dueAt, attempts });
      return logger.warn(
        { ...logFields, problem: result.problem },
        'notification failed; it will be retried',
      );
    }
  }
  await giveUp(result.problem);
  logger.error(
    { ...logFields, problem: result.problem },
    'notification failed for a day; it will not be sent again',
  );
}

/** An e-mail run whose recipients are all suppressed has no slices, so no worker begins it. */
async function beginMails(
  context: EngineContext,
  accountNamed: NotifyOptions['accountNamed'],
): Promise<void> {
  for (const run of await listUnstartedMailRuns(context.ledger.pool))
    await beginPlannedRun(context, run, accountNamed);
}

/** First and longest wait (milliseconds). */
const firstWait = 5_000;
const maxWait = 10 * 60_000;

/** Milliseconds. */
const notifyWithin = 24 * 3_600_000;

/**
 * The wait before a retry. It doubles each time, less a random part of up to half, so that notifications that failed
 * together are not repeated together.
 *
 * @param attempts so far, from 1
 * @param random from 0 up to, but not including, 1
 */
export function notifyBackoff(attempts: number, random: number): number {
  const cap = Math.min(maxWait, firstWait * 2 ** Math.min(20, attempts - 1));
  return Math.round(cap * (1 - random / 2));
}

/** A notification that this process cannot send is left to others for so long (milliseconds). */
const deferFor = 30_000;

/** Until when, and whether the log has it. */
type Deferred = Map<string, { readonly until: number; warned: boolean }>;

function deferredIds(deferred: Deferred, now: number): string[] {
  for (const [notification, { until }] of deferred)
    if (until + notifyWithin < now) deferred.delete(notification);
  return [...deferred].filter(([, { until }]) => until > now).map(([notification]) => notification);
}
