import { resolve } from 'node:path';
import { nextTick, storedSchedule, ticksBetween } from '../../campaign/schedule.ts';
import type { Finding } from '../../domain/doctor.ts';
import { nextStep } from '../../domain/next-step.ts';
import { InputError } from '../../domain/problems.ts';
import {
  type ListedSchedule,
  type ListedTick,
  listSchedules,
  listTicks,
} from '../../ledger/schedules/schedules.ts';
import { count } from '../../platform/sentence.ts';
import { sinceLastRun } from '../schedule/describe-campaigns.ts';
import { readScheduleFolder, type ScheduleFolder } from '../schedule/schedule-folder.ts';
import type { Settings } from '../settings.ts';
import {
  explainInput,
  formatAge,
  listFirst,
  ok,
  type Pool,
  type PoolProbe,
  problem,
  warning,
} from './check.ts';

/** @param folder of the campaigns, relative to the working folder */
export function scheduleProbes({ workingFolder }: Settings, folder: string, now: () => Date): PoolProbe[] {
  return [
    {
      name: 'schedules',
      ask: (pool) => checkFolder(pool, resolve(workingFolder, folder), now()),
    },
    { name: 'ticks', ask: async (pool) => checkTicks(await listTicks(pool, maxTicks), now()) },
  ];
}

/** Milliseconds; processes record ticks every five seconds. */
const watchedWithin = 60_000;
const lookedBack = 7 * 86_400_000;
const maxTicks = 1_000;

/** A schedule that no process starts. */
type Unwatched = {
  readonly schedule: string;
  /** Null: no process has ever seen it. */
  readonly since: Date | null;
  readonly passed: number;
  readonly next: Date | undefined;
};

/** A machine without the folder still sees the schedules that others have recorded. */
async function checkFolder(pool: Pool, folder: string, now: Date): Promise<Finding> {
  const recorded = await listSchedules(pool);
  try {
    return checkSchedules(recorded, await readScheduleFolder(folder), now);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const finding = checkSchedules(recorded, { schedules: [], unreadable: [] }, now);
    if (finding.state !== 'ok') return finding;
    return { ...explainInput(error, 'Name the folder with --campaigns.'), state: 'not checked' };
  }
}

export function checkSchedules(
  recorded: readonly ListedSchedule[],
  { schedules: written, unreadable }: ScheduleFolder,
  now: Date,
): Finding {
  const active = recorded.filter(({ active: isActive }) => isActive);
  const known = new Set(active.map(({ schedule }) => schedule));
  const unwatched = [
    ...active.flatMap((each) => findUnwatched(each, now)),
    ...written.flatMap(({ schedule, times }): Unwatched[] => {
      const next = nextTick(times, now);
      return known.has(schedule) || !next ? [] : [{ schedule, since: null, passed: 0, next }];
    }),
  ];
  if (unwatched.length > 0) return describeUnwatched(unwatched, now);
  const [invalid] = unreadable;
  if (invalid !== undefined)
    return problem(
      `${invalid.schedule} has a schedule, and cannot be read: ${invalid.what.replaceAll('\n', ' ')}`,
      nextStep`Correct it until ${{ kind: 'check campaign', file: invalid.schedule }} accepts it.`,
    );
  if (active.length === 0) return ok('No campaign has a schedule.');
  const next = earliest(active.flatMap(({ times }) => nextTick(storedSchedule.parse(times), now) ?? []));
  const nextWords = next ? `the next run is in ${formatAge(next.getTime() - now.getTime())}` : 'none is due';
  return ok(`${count(active.length, 'schedule')} kept by a running process; ${nextWords}.`);
}

function findUnwatched({ schedule, times, recordedUntil }: ListedSchedule, now: Date): Unwatched[] {
  const age = now.getTime() - recordedUntil.getTime();
  if (age <= watchedWithin) return [];
  const parsed = storedSchedule.parse(times);
  const from = new Date(Math.max(recordedUntil.getTime(), now.getTime() - lookedBack));
  const passed = ticksBetween(parsed, from, now, maxTicks).length;
  const next = nextTick(parsed, now);
  return passed === 0 && !next ? [] : [{ schedule, since: recordedUntil, passed, next }];
}

function describeUnwatched(unwatched: readonly Unwatched[], now: Date): Finding {
  const passed = unwatched.reduce((sum, each) => sum + each.passed, 0);
  const since = earliest(unwatched.flatMap(({ since: seen }) => seen ?? []));
  const soonest = earliest(unwatched.flatMap((each) => each.next ?? []));
  const who = `No process starts ${count(unwatched.length, 'schedule')} (${listFirst(unwatched.map(({ schedule }) => schedule))})`;
  const when = since ? `${who}, for ${formatAge(now.getTime() - since.getTime())}` : who;
  const next = nextStep`Start \`volley serve\` or \`volley worker\` and keep it running, with this folder of campaigns. See what was missed: ${{ kind: 'list schedules' }}.`;
  if (passed > 0) return problem(`${when}; ${count(passed, 'time')} passed without a run.`, next);
  const nextWords = soonest ? ` The next time is in ${formatAge(soonest.getTime() - now.getTime())}.` : '';
  return warning(`${when}.${nextWords}`, next);
}

/** Ticks of the last days that made no run, since the last one of their schedule that did. @param ticks newest first */
export function checkTicks(ticks: readonly ListedTick[], now: Date): Finding {
  const lately = ticks.filter(({ dueAt }) => now.getTime() - dueAt.getTime() < lookedBack);
  const unmade = [...Map.groupBy(lately, ({ schedule }) => schedule).values()].flatMap(sinceLastRun);
  const without = (['missed', 'failed'] as const).flatMap((state) => {
    const found = unmade.filter((tick) => tick.state === state).length;
    return found === 0 ? [] : [`${found} ${state}`];
  });
  const late = lately.filter(
    ({ state, dueAt }) => state === 'due' && now.getTime() - dueAt.getTime() > watchedWithin,
  );
  if (late.length > 0)
    return problem(
      `${count(late.length, 'scheduled run')} due and not started: ${listFirst(late.map(({ schedule }) => schedule))}.`,
      nextStep`See the log of \`volley serve\` or \`volley worker\`, and ${{ kind: 'list schedules' }}.`,
    );
  if (without.length > 0)
    return warning(
      `Of the scheduled runs of the last 7 days, ${without.join(' and ')}, and none of their schedules ran since.`,
      nextStep`See why: ${{ kind: 'list schedules' }}; ${{ kind: 'run campaign' }} makes up for one.`,
    );
  return ok('No scheduled run of the last 7 days waits to be made up for.');
}

function earliest(times: readonly Date[]): Date | undefined {
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0];
}
