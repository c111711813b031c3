import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import type { Campaign } from '../../campaign/campaign.ts';
import { standardInput } from '../../campaign/contacts-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { findRelatives } from '../../ledger/planning/remove-reached.ts';
import { findKnownDigests } from '../../ledger/runs/contact-files.ts';
import { digestOfFile } from '../../platform/digest.ts';
import { hasCode, unreadableReason } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { EngineContext } from '../context.ts';
import { folderOfCampaign } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** The campaign has already run every matching file. This is not a failure. */
export class NothingNewError extends Error {
  override readonly name = 'NothingNewError';
}

/** Returns the SHA-256 digests (hexadecimal) of files that the campaign has already run. */
export type FindRanBefore = (campaign: string, digests: readonly string[]) => Promise<ReadonlySet<string>>;

type MatchedFiles = {
  readonly campaign: Campaign;
  /** Absolute paths, for `contacts.moveTo`. */
  readonly matched: readonly string[];
};

/**
 * Finds the files that patterns match, the oldest first.
 *
 * @param ranBefore without it, files that have already run are included
 * @throws InputError when nothing matches
 * @throws NothingNewError when every matching file has already run
 */
export async function matchContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
  ranBefore: FindRanBefore | undefined,
): Promise<MatchedFiles> {
  const { file: names, take } = campaign.value.contacts;
  if (!names.some(isPattern)) return { campaign, matched: [] };
  const folder = folderOfCampaign(path, settings);
  const patterns = names.filter(isPattern);
  const found = await Promise.all(patterns.map((name) => matchPattern(name, folder)));
  const matched = [...new Set(found.flat())];
  const fromAbsolutePatterns = new Set(found.filter((_, index) => isAbsolute(patterns[index] ?? '')).flat());
  const shownAs = (each: string): string => (fromAbsolutePatterns.has(each) ? each : relative(folder, each));
  if (matched.length === 0) {
    const what = `No file matches ${names.filter(isPattern).join(' or ')}.`;
    if (ranBefore) throw new NothingNewError(what);
    throw new InputError([{ where: campaign.locate(['contacts', 'file']), what }]);
  }
  const newFiles = await findNewFiles(campaign.value.campaign, matched, ranBefore);
  if (newFiles.length === 0) {
    throw new NothingNewError(`All ${matched.length} files that match have been run before.`);
  }
  const chosen = take === 'newest' ? newFiles.slice(-1) : newFiles;
  const file = [...names.filter((name) => !isPattern(name)), ...chosen.map(shownAs)];
  const { value, locate } = campaign;
  return {
    campaign: {
      value: { ...value, contacts: { ...value.contacts, file } },
      // Errors point to the pattern.
      locate: (keys) => locate(keys[0] === 'contacts' && keys[1] === 'file' ? ['contacts', 'file'] : keys),
    },
    matched: chosen,
  };
}

/** Only * and ? make a pattern. Other glob characters occur in real file names. */
export function isPattern(name: string): boolean {
  return name !== standardInput && /[*?]/.test(name);
}

/** The oldest first, then by name. */
async function matchPattern(pattern: string, folder: string): Promise<string[]> {
  const names = await glob(pattern.replace(/[()[\]{}!+@]/g, '\\$&'), {
    cwd: folder,
    absolute: true,
    followSymbolicLinks: false,
    expandDirectories: false,
  });
  const files = await Promise.all(names.map(async (name) => ({ name, changed: (await stat(name)).mtimeMs })));
  return files
    .toSorted((one, other) => one.changed - other.changed || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name);
}

/** Finds files that no run has sent; only the first of equal files is new. */
async function findNewFiles(
  campaign: string,
  files: readonly string[],
  ranBefore: FindRanBefore | undefined,
): Promise<string[]> {
  const digests: string[] = [];
  for (const file of files) digests.push((await digestOfFile(file)).toString('hex'));
  const known = new Set(await ranBefore?.(campaign, digests));
  return files.filter((_, index) => {
    const digest = digests[index] ?? '';
    if (known.has(digest)) return false;
    known.add(digest);
    return true;
  });
}

export type UnmovedFile = { readonly file: string; readonly reason: string };

/**
 * Moves the matched files, with the run's id in their names. The run holds their content.
 *
 * @returns the files that could not be moved
 */
export async function moveContactFiles(
  { campaign, matched }: MatchedFiles,
  path: string,
  settings: Settings,
  run: string,
): Promise<UnmovedFile[]> {
  const { moveTo } = campaign.value.contacts;
  if (moveTo === undefined) return [];
  const target = resolve(folderOfCampaign(path, settings), moveTo);
  const unmoved: UnmovedFile[] = [];
  for (const file of matched) {
    try {
      makeFolder(target);
      const ending = extname(file);
      await moveFile(file, join(target, `${basename(file, ending)}.${run}${ending}`));
    } catch (error) {
      unmoved.push({ file, reason: unreadableReason(error) });
    }
  }
  return unmoved;
}

/** @param origin a run that the new one continues: files that it read only up to its limit are new */
export function createRanBeforeFinder(
  { ledger: { pool } }: EngineContext,
  origin: string | undefined,
): FindRanBefore {
  return async (campaign, digests) => {
    const continued = origin === undefined ? [] : await findRelatives(pool, [origin]);
    return findKnownDigests(
      pool,
      campaign,
      digests,
      continued.map(({ run }) => run),
    );
  };
}

async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
