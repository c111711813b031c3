import { type Schedule, storedSchedule, ticksBetween } from '../../campaign/schedule.ts';
import type { Person } from '../../domain/access.ts';
import type { TickReason } from '../../domain/reasons.ts';
import { syncSchedules } from '../../ledger/schedules/schedules.ts';
import {
  type LockedSchedule,
  lockSchedules,
  type NewTick,
  recordTicks,
} from '../../ledger/schedules/ticks.ts';
import { inTransaction } from '../../ledger/session.ts';
import { systemUser } from '../../platform/system-user.ts';
import type { EngineContext } from '../context.ts';
import type { ScheduleFolder } from './schedule-folder.ts';

/** Workers check more often, so only later ticks are missed (milliseconds). */
const onTimeTolerance = 60_000;

/** Per schedule, after a long time without a worker. */
export const maxTicks = 1_000;

/**
 * Records the ticks since the last call, then replaces the schedules with the folder's. Concurrent calls and crashes
 * never record a tick twice. The actor and the owner of the file put in a schedule that is new or has changed.
 */
export async function recordSchedules(
  { ledger, actor: { name, via }, now }: EngineContext,
  { schedules, unreadable }: ScheduleFolder,
): Promise<void> {
  const time = now();
  await inTransaction(ledger.pool, async (client) => {
    const locked = await lockSchedules(client, time);
    const ticks = locked.flatMap((each) => listNewTicks(each, time));
    await recordTicks(
      client,
      locked.map(({ schedule: name }) => name),
      ticks,
      time,
    );
    await syncSchedules(
      client,
      schedules.map(({ ownerId, ...schedule }) => {
        const owner: Person = { name: systemUser(ownerId), via: 'cli' };
        return { ...schedule, putInBy: [{ name, via }, owner] };
      }),
      unreadable.map(({ schedule: name }) => name),
      time,
    );
  });
}

function listNewTicks({ schedule: name, times, recordedUntil }: LockedSchedule, now: Date): NewTick[] {
  const written = storedSchedule.parse(times);
  return ticksBetween(written, recordedUntil, now, maxTicks).map((dueAt): NewTick => {
    const late = isLate(written, dueAt, now);
    return {
      schedule: name,
      dueAt,
      state: late ? 'missed' : 'due',
      reason: late ? toMissedReason(written) : null,
    };
  });
}

export function isLate({ catchUp }: Schedule, dueAt: Date, now: Date): boolean {
  return now.getTime() - dueAt.getTime() > Math.max(catchUp, onTimeTolerance);
}

export function toMissedReason({ catchUp }: Schedule): TickReason {
  return { kind: 'no_worker', catchUpMilliseconds: catchUp };
}
