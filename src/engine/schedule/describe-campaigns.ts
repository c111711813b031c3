import { join } from 'node:path';
import { type Campaign, checkCampaign } from '../../campaign/campaign.ts';
import { nextTick, type Schedule, storedSchedule } from '../../campaign/schedule.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import {
  type ListedSchedule,
  type ListedTick,
  listLatestTicks,
  listSchedules,
  listTicks,
  type TickResult,
} from '../../ledger/schedules/schedules.ts';
import type { EngineContext } from '../context.ts';
import { readText } from '../definition-files.ts';
import { loadAccount, loadCampaign, sendingAccountOf } from '../load-definition.ts';
import { listCampaigns } from './schedule-folder.ts';
import type { CampaignSource } from './start-ticks.ts';

/** A file of the folder of campaigns. */
type CampaignFile = {
  readonly file: string;
  /** Undefined: the file has a problem that leaves open what it is. */
  readonly campaign: Campaign['value'] | undefined;
  /** What is wrong in the file itself and its account. Its contact files and attachments are not read. */
  readonly problems: readonly Problem[];
};

export type DescribedCampaign = CampaignFile & {
  readonly schedule: CampaignSchedule | undefined;
  /** Newest first; also of a schedule that the file no longer has. */
  readonly ticks: readonly TickResult[];
};

export type CampaignSchedule = {
  readonly times: Schedule;
  readonly next: readonly Date[];
  /** When a process last recorded its ticks; undefined: never. */
  readonly recordedAt: Date | undefined;
};

type ShownCampaigns = {
  /** Whose campaigns are shown; null: all, also files that cannot be read. */
  readonly accounts: readonly string[] | null;
  /** How many of the latest ticks of each. */
  readonly ticks: number;
  /** How many of its next times. */
  readonly next: number;
};

export async function describeCampaigns(
  context: Pick<EngineContext, 'ledger' | 'now'>,
  source: CampaignSource,
  shown: ShownCampaigns,
): Promise<readonly DescribedCampaign[]> {
  const names = await listCampaigns(source.folder, source.settings);
  const known = new Map<string, Account>();
  const files: CampaignFile[] = [];
  for (const name of names) files.push(await readCampaignFile(name, source, known));
  const visible = files.filter((file) => isVisible(file, shown.accounts));
  return withSchedules(context, visible, shown);
}

/** @returns undefined for a file that is not there, or of another account */
export async function describeCampaign(
  context: Pick<EngineContext, 'ledger' | 'now'>,
  source: CampaignSource,
  file: string,
  shown: ShownCampaigns,
): Promise<DescribedCampaign | undefined> {
  if (!(await listCampaigns(source.folder, source.settings)).includes(file)) return undefined;
  const read = await readCampaignFile(file, source, new Map());
  if (!isVisible(read, shown.accounts)) return undefined;
  const [described] = await withSchedules(context, [read], shown);
  return described;
}

/** Schedules that a process still starts, though their file is not in this folder. */
export async function listSchedulesWithoutFile(
  { ledger }: Pick<EngineContext, 'ledger'>,
  { folder, settings }: CampaignSource,
): Promise<readonly string[]> {
  const files = await listCampaigns(folder, settings);
  const active = (await listSchedules(ledger.pool)).filter((each) => each.active);
  return active.map(({ schedule }) => schedule).filter((schedule) => !files.includes(schedule));
}

/** The ticks of a schedule since the last one that made a run. @param ticks the newest first */
export function sinceLastRun<Tick extends Pick<ListedTick, 'state'>>(
  ticks: readonly Tick[],
): readonly Tick[] {
  const started = ticks.findIndex(({ state }) => state === 'started');
  return started < 0 ? ticks : ticks.slice(0, started);
}

function isVisible({ campaign }: CampaignFile, accounts: readonly string[] | null): boolean {
  return accounts === null || (campaign !== undefined && accounts.includes(campaign.account));
}

/** The text of a campaign file; undefined for another YAML file, which may hold secrets. */
export async function readCampaignText(
  file: string,
  { folder, settings }: CampaignSource,
): Promise<string | undefined> {
  const text = await readText(join(folder, file), settings, 'campaign').catch((error: unknown) => {
    if (error instanceof InputError) return undefined;
    throw error;
  });
  return text !== undefined &&
    /^["']?campaign["']?[ \t]*:/m.test(text) &&
    !/^["']?accounts["']?[ \t]*:/m.test(text)
    ? text
    : undefined;
}

/** @param known accounts that are read already */
async function readCampaignFile(
  file: string,
  { folder, settings }: CampaignSource,
  known: Map<string, Account>,
): Promise<CampaignFile> {
  let campaign: Campaign | undefined;
  try {
    const path = join(folder, file);
    campaign = await loadCampaign(path, settings);
    const { account: name } = campaign.value;
    const account = known.get(name) ?? (await loadAccount(name, settings, campaign.locate(['account'])));
    known.set(name, account);
    checkCampaign(campaign, sendingAccountOf(account));
    return { file, campaign: campaign.value, problems: [] };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { file, campaign: campaign?.value, problems: error.problems };
  }
}

async function withSchedules(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  files: readonly CampaignFile[],
  { accounts, ...counts }: ShownCampaigns,
): Promise<readonly DescribedCampaign[]> {
  const names = files.map(({ file }) => file);
  const [schedules, latest] = await Promise.all([
    listSchedules(ledger.pool),
    listLatestTicks(ledger.pool, names, counts.ticks, accounts),
  ]);
  const recorded = new Map(schedules.map((each) => [each.schedule, each]));
  const ticks = Map.groupBy(latest, ({ schedule }) => schedule);
  return files.map((file) => {
    const times = file.campaign?.schedule;
    const record = recorded.get(file.file);
    const schedule = times && {
      times,
      next: nextTicks(times, now(), counts.next),
      recordedAt: record?.active ? record.recordedUntil : undefined,
    };
    return { ...file, schedule, ticks: ticks.get(file.file) ?? [] };
  });
}

/** @param count at most so many */
export function nextTicks(times: Schedule, now: Date, count: number): Date[] {
  const ticks: Date[] = [];
  for (let tick = nextTick(times, now); tick && ticks.length < count; tick = nextTick(times, tick))
    ticks.push(tick);
  return ticks;
}

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
