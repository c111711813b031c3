import { setTimeout as sleep } from 'node:timers/promises';
import { listUnbegunMails } from '../../ledger/notifications/list.ts';
import { giveUp, noteTold, postpone } from '../../ledger/notifications/settle.ts';
import { type TakenNotification, takeNotification } from '../../ledger/notifications/take.ts';
import { reasonOf } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import { beginPlanned } from '../runs/begin-run.ts';
import { type LeftToOthers, openLeftToOthers } from './left-to-others.ts';
import { type Telling, type TellingTools, tell } from './tell.ts';
import { tellWait, toldWithin } from './tell-wait.ts';

/** Milliseconds between two looks while nothing is to be told. */
export const usualTellingLook = 1_000;

const mostAtOnce = 4;

/** Longer than any attempt takes (milliseconds): what a dead process was about to tell is due again then. */
const attemptTime = 2 * 60_000;

/** After so long it is said that nobody has told something (milliseconds). */
const saidAfter = 10 * 60_000;

export type Notifying = {
  readonly tools: TellingTools;
  /** Milliseconds between two looks; undefined: until nothing is due. */
  readonly every: number | undefined;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly cutOff: AbortSignal;
};

/**
 * Tells whoever is to be told what became of runs and schedules. What goes wrong is noted and tried again for a day, by
 * whatever process is there then; any number of them may do it.
 */
export async function keepNotifying(
  context: EngineContext,
  { tools, every, logger, stop, cutOff }: Notifying,
): Promise<void> {
  const under = new Set<Promise<void>>();
  const left = openLeftToOthers(context.monotonic);
  let failing = '';
  while (!stop.aborted) {
    let taken: TakenNotification | undefined;
    try {
      taken = under.size < mostAtOnce ? await takeDue(context, left.ids()) : undefined;
      if (taken) {
        const one = tellAndNote(context, taken, { tools, logger, cutOff }, left).finally(() =>
          under.delete(one),
        );
        under.add(one);
        continue;
      }
      if (under.size === 0) await beginMails(context, tools.accountNamed);
      failing = '';
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== failing) logger.error({ reason }, 'nobody could be told anything; trying again');
      failing = reason;
    }
    if (every === undefined && under.size === 0) break;
    const waited = new AbortController();
    const pause = sleep(every ?? usualTellingLook, undefined, {
      signal: AbortSignal.any([stop, waited.signal]),
    });
    await Promise.race([pause.catch(() => undefined), ...under]);
    waited.abort();
  }
  await Promise.all(under);
}

async function takeDue(
  context: EngineContext,
  ignored: readonly string[],
): Promise<TakenNotification | undefined> {
  const now = context.now();
  const until = new Date(now.getTime() + attemptTime);
  const taken = await takeNotification(context.ledger.pool, ignored, now, until);
  if (taken) pass('notification taken', taken.notification);
  return taken;
}

/** Never rejects: what could not be noted is due again by itself. */
async function tellAndNote(
  context: EngineContext,
  taken: TakenNotification,
  { tools, logger, cutOff }: Pick<Notifying, 'tools' | 'logger' | 'cutOff'>,
  left: LeftToOthers,
): Promise<void> {
  const { notification, event } = taken;
  const about = { notification, event, ...subjectOf(taken) };
  try {
    const telling = await tell(context, taken, tools, cutOff).catch((error: unknown): Telling => {
      return { kind: 'not told', problem: reasonOf(error) };
    });
    if ('output' in telling && telling.output)
      logger.info({ ...about, output: telling.output }, 'a command of notify wrote');
    if (telling.kind === 'not here') left.leave(notification);
    await note(context, taken, telling, { logger, left }, about);
  } catch (error) {
    logger.error(
      { ...about, reason: reasonOf(error) },
      'what became of a notification could not be noted; it is told again',
    );
  }
}

function subjectOf({ about }: TakenNotification): Readonly<Record<string, string>> {
  switch (about.kind) {
    case 'run':
      return { run: about.run };
    case 'schedule':
      return { schedule: about.missed.schedule };
    case 'refusal':
      return { campaign: about.refused.campaign };
  }
}

async function note(
  { ledger: { pool }, now, random }: EngineContext,
  taken: TakenNotification,
  telling: Telling,
  { logger, left }: { readonly logger: Logger; readonly left: LeftToOthers },
  about: Readonly<Record<string, string>>,
): Promise<void> {
  const time = now();
  const age = time.getTime() - taken.notedAt.getTime();
  switch (telling.kind) {
    case 'taken':
      return;
    case 'mailed':
      return logger.info({ ...about, mail: telling.run }, 'told by an e-mail, which is a run of its own');
    case 'told':
      await noteTold(pool, taken, time);
      return logger.info(about, 'told');
    case 'gone':
      await giveUp(pool, taken, telling.problem, time);
      return logger.warn({ ...about, problem: telling.problem }, 'not told, and not tried again');
    case 'not here': {
      const { problem } = telling;
      if (age >= toldWithin) break;
      await postpone(pool, taken, { problem, dueAt: time, attempts: taken.attempts });
      if (age >= saidAfter && left.isNews(taken.notification))
        logger.warn({ ...about, problem }, 'nobody has told it; this process cannot');
      return;
    }
    case 'not told': {
      const attempts = taken.attempts + 1;
      const wait = tellWait(attempts, random());
      if (age + wait >= toldWithin) break;
      const dueAt = new Date(time.getTime() + wait);
      await postpone(pool, taken, { problem: telling.problem, dueAt, attempts });
      return logger.warn({ ...about, problem: telling.problem }, 'not told; trying again');
    }
  }
  await giveUp(pool, taken, telling.problem, time);
  logger.error({ ...about, problem: telling.problem }, 'not told within a day, and not tried again');
}

/** Workers take e-mails that are planned by themselves, but not those that nobody is left to be sent to. */
async function beginMails(context: EngineContext, accountNamed: TellingTools['accountNamed']): Promise<void> {
  for (const run of await listUnbegunMails(context.ledger.pool))
    await beginPlanned(context, run, accountNamed);
}
