import { nextTick, type Schedule, storedSchedule } from '../../campaign/schedule.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import {
  type ListedSchedule,
  type ListedTick,
  listSchedules,
  listTicks,
} from '../../ledger/schedules/schedules.ts';
import type { EngineContext } from '../context.ts';

/** `next`: null when the campaign never runs again or its file is missing. */
type UpcomingSchedule = Omit<ListedSchedule, 'times' | 'recordedUntil'> & {
  readonly times: Schedule;
  readonly next: Date | null;
};

type FormattedTick = Omit<ListedTick, 'reason'> & { readonly reason: string | null };

export async function describeSchedules(
  { ledger, now }: EngineContext,
  limit: number,
): Promise<{ readonly schedules: readonly UpcomingSchedule[]; readonly ticks: readonly FormattedTick[] }> {
  const time = now();
  const schedules = (await listSchedules(ledger.pool)).map(({ times, recordedUntil: _, ...schedule }) => {
    const written = storedSchedule.parse(times);
    const next = schedule.active ? (nextTick(written, time) ?? null) : null;
    return { ...schedule, times: written, next };
  });
  const ticks = await listTicks(ledger.pool, limit);
  return { schedules, ticks: ticks.map((tick) => ({ ...tick, reason: formatReasonOrNull(tick.reason) })) };
}
