import { Cron } from 'croner';
import { z } from 'zod';
import { duration, timeZone } from '../platform/scalars.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { formatLocalTime, nextSkippedTimes, toInstantOrChange } from '../platform/zoned-times.ts';
import { isTime } from '../wire/wire-values.ts';

/** Whether the next run is skipped or queued while the last one has not ended. */
const overlaps = ['skip', 'queue'] as const;

const cron = z
  .string()
  .superRefine((written, context) => {
    const problem = cronError(written);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .describe(
    'Minute, hour, day of the month, month, day of the week, such as "30 2 * * MON-FRI". A local time that occurs twice counts once (hours as * or */2 each time).',
  );

const at = z
  .array(
    z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, {
        error: 'expected a local time such as 2026-12-01T09:00',
        abort: true,
      })
      .refine(isTime, 'there is no such day or time'),
  )
  .min(1, 'expected at least one time')
  .max(1_000, 'at most 1000 times')
  .describe('Single local times instead of cron: [2026-12-01T09:00, 2026-12-24T09:00].');

const required = z
  .strictObject({
    cron: cron.optional(),
    at: at.optional(),
    timeZone: timeZone.describe('The zone of these times, such as Pacific/Auckland.'),
    catchUp: duration
      .prefault('0s')
      .describe('How late a run can start that was missed without a worker, such as 2h. 0s: a minute.'),
    overlap: z.enum(overlaps).default('skip').describe('What to do while the last run has not ended.'),
  })
  .refine((written) => (written.cron === undefined) !== (written.at === undefined), {
    error: 'expected either cron or at',
  });

export const schedule = required.optional().describe('When `volley serve` and `volley worker` start runs.');

export type Schedule = z.output<typeof required>;

/** Reads a schedule as it is stored; durations are milliseconds. */
export const storedSchedule: z.ZodType<Schedule> = z.object({
  cron: z.string().optional(),
  at: z.array(z.string()).optional(),
  timeZone: z.string(),
  catchUp: z.number(),
  overlap: z.enum(overlaps),
});

type Times = Pick<Schedule, 'cron' | 'at' | 'timeZone'>;

export function nextTick({ cron: pattern, at: times, timeZone }: Times, after: Date): Date | undefined {
  if (pattern !== undefined) return nextCronTick(pattern, timeZone, after);
  return instantsOf(times, timeZone).find((time) => time > after);
}

/** Earliest first. Skipped times can share a moment. */
function instantsOf(times: readonly string[] = [], timeZone: string): Date[] {
  const instants = new Set(times.map((time) => toInstantOrChange(time, timeZone).getTime()));
  return [...instants].sort((one, other) => one - other).map((time) => new Date(time));
}

/** croner counts a skipped time at the moment of the change only where hour and minute are one number each. */
function nextCronTick(pattern: string, timeZone: string, after: Date): Date | undefined {
  const next = cronOf(pattern, timeZone).nextRun(after) ?? undefined;
  const [, hours = ''] = pattern.trim().split(/\s+/);
  if (next === undefined || hours.startsWith('*')) return next;
  let from = after;
  for (;;) {
    const skipped = nextSkippedTimes(timeZone, from, next);
    if (skipped === undefined) return next;
    const first = cronOf(pattern, 'UTC').nextRun(new Date(Date.parse(`${skipped.from}Z`) - 1));
    if (first && first.getTime() < Date.parse(`${skipped.until}Z`)) return skipped.at;
    from = skipped.at;
  }
}

/** Why the schedule starts nothing any more. @returns undefined if it has a next tick */
export function pastTimesWarning(times: Times, now: Date): string | undefined {
  const last = instantsOf(times.at, times.timeZone).at(-1);
  if (last === undefined || last > now) return undefined;
  const count = times.at?.length ?? 0;
  const moment = `${formatLocalTime(last, times.timeZone).slice(0, 16)} ${times.timeZone}`;
  const past =
    count === 1 ? `its time, ${moment}, is past` : `all ${count} times are past, the last one is ${moment}`;
  return `${past}, so the schedule starts no run`;
}

/**
 * The times of a schedule after one and up to another, earliest first.
 *
 * @param limit of more times, the latest are returned
 */
export function ticksBetween(times: Times, after: Date, until: Date, limit: number): Date[] {
  if (times.cron === undefined)
    return instantsOf(times.at, times.timeZone)
      .filter((time) => time > after && time <= until)
      .slice(-limit);
  const ticks: Date[] = [];
  for (let tick = nextTick(times, after); tick && tick <= until; tick = nextTick(times, tick)) {
    ticks.push(tick);
    if (ticks.length > limit) ticks.shift();
  }
  return ticks;
}

/** Five fields: with seconds, a schedule would start far too many runs. */
function cronOf(pattern: string, timeZone: string): Cron {
  return new Cron(pattern, {
    timezone: timeZone,
    mode: '5-part',
    paused: true,
  });
}

function cronError(written: string): string | undefined {
  if (written.trim().split(/\s+/).length !== 5) return 'expected five fields, such as "30 2 * * *"';
  try {
    if (cronOf(written, 'UTC').nextRun(new Date(0)) === null) return 'this time never comes';
    return undefined;
  } catch {
    return cronFieldError(written);
  }
}

const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

const cronFields: readonly {
  readonly name: string;
  readonly range: string;
  readonly words: readonly string[];
}[] = [
  { name: 'minute', range: '0 to 59', words: [] },
  { name: 'hour', range: '0 to 23', words: [] },
  { name: 'day of the month', range: '1 to 31, or L for the last', words: [] },
  { name: 'month', range: '1 to 12, or JAN to DEC', words: monthNames },
  { name: 'day of the week', range: '0 to 7, or SUN to SAT', words: dayNames },
];

function cronFieldError(written: string): string {
  for (const [index, text] of written.trim().split(/\s+/).entries()) {
    const field = cronFields[index];
    if (
      field === undefined ||
      isCron(cronFields.map((_, otherIndex) => (otherIndex === index ? text : '*')).join(' '))
    )
      continue;
    const word = (text.match(/[A-Za-z]{2,}/g) ?? []).find(
      (each) => !field.words.includes(each.toUpperCase()),
    );
    return `"${text}" is no ${field.name}; expected ${field.range}, with commas, "-", "*" or "/" between.${didYouMean(word ?? '', field.words)}`;
  }
  return 'expected five fields, such as "30 2 * * *"';
}

function isCron(pattern: string): boolean {
  try {
    cronOf(pattern, 'UTC');
    return true;
  } catch {
    return false;
  }
}
