import { lstat, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readText } from '../../engine/definition-files.ts';
import {
  formatPlanFile,
  isPlanFile,
  maxPlanAge,
  type PlanFile,
  parsePlanFile,
} from '../../engine/plan/plan-file.ts';
import type { PlanPlace } from '../../engine/plan/planned-campaign.ts';
import { readUpTo } from '../../platform/read-up-to.ts';
import { printable } from '../../report/printable.ts';
import { formatMinute } from '../../report/time.ts';
import { requireNewFile, writeResult } from '../output/write-result.ts';
import type { Shell } from '../shell.ts';

export type OpenedPlan = { readonly plan: PlanFile; readonly place: PlanPlace };

export function planPlace({ settings }: Shell, name: string): PlanPlace {
  return { name, absolutePath: resolve(settings.workingFolder, name) };
}

/** @throws InputError when it cannot be read, is no plan file, or was changed */
export async function openPlan(shell: Shell, name: string): Promise<OpenedPlan> {
  const text = await readText(name, shell.settings, 'plan');
  return { plan: parsePlanFile(text, name), place: planPlace(shell, name) };
}

/**
 * Before planning, which can take minutes.
 *
 * @throws InputError when the place is taken by something that is no plan file
 */
export async function requirePlanPlace(shell: Shell, { name, absolutePath }: PlanPlace): Promise<void> {
  if (!(await isReplaceable(absolutePath))) await requireNewFile(shell, name);
}

/** Anything but a file could keep its reader waiting for ever. A link is not followed: only its name would be replaced. */
async function isReplaceable(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile() && isPlanFile((await readUpTo(path, 100)).toString());
  } catch {
    // The writer says why.
    return false;
  }
}

/** Replaces only another plan file. */
export async function writePlan(
  shell: Shell,
  { name, absolutePath }: PlanPlace,
  plan: PlanFile,
): Promise<void> {
  if (await isReplaceable(absolutePath)) await rm(absolutePath);
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    yield formatPlanFile(plan);
  }
  await writeResult(shell, pieces(), name);
  const until = new Date(Date.parse(plan.madeAt) + maxPlanAge);
  const shown = printable(name);
  shell.note(
    `  plan     ${shown}: \`volley run --plan ${shown}\` sends exactly this, or refuses; until ${formatMinute(shell.noteScreen, until)}. It holds counts and digests, no messages${plan.testTo ? ', and the addresses of --test-to' : ''}.`,
  );
}
