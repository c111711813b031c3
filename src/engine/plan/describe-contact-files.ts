import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import type { EngineContext } from '../context.ts';
import { folderOfCampaign } from '../definition-files.ts';
import { loadCampaign } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import { createRanBeforeFinder, matchContactFiles, NothingNewError } from './contact-patterns.ts';

/** A contact file that the next run would read. */
export type ContactFileSize = {
  /** As the campaign writes it. */
  readonly name: string;
  readonly bytes: number;
  /** Lines after the header; undefined for a large or packed file, and for a workbook. */
  readonly rows: number | undefined;
};

/** A larger file takes longer than a person waits for a page. */
const maxCountedBytes = 64 * 1024 * 1024;

/**
 * @param path of the campaign
 * @returns nothing when all files that match have run before
 * @throws InputError when the campaign is faulty, or a file is missing
 */
export async function describeContactFiles(
  context: EngineContext,
  path: string,
  settings: Settings,
): Promise<ContactFileSize[]> {
  const campaign = await loadCampaign(path, settings);
  const ranBefore = createRanBeforeFinder(context, undefined);
  const matched = await matchContactFiles(campaign, path, settings, ranBefore).catch((error: unknown) => {
    if (error instanceof NothingNewError) return undefined;
    throw error;
  });
  const folder = folderOfCampaign(path, settings);
  const names = matched?.campaign.value.contacts.file ?? [];
  return Promise.all(names.map((name) => describeFile(name, resolve(folder, name))));
}

async function describeFile(name: string, file: string): Promise<ContactFileSize> {
  try {
    const { size: bytes } = await stat(file);
    const isCounted = bytes <= maxCountedBytes && !/\.(xlsx|gz)$/i.test(name);
    return { name, bytes, rows: isCounted ? await countRows(file) : undefined };
  } catch (error) {
    const what = `The contact file ${name} cannot be read (${unreadableReason(error, name)}).`;
    throw new InputError([{ where: name, what }], { cause: error });
  }
}

/** A line break within quotes counts too. */
async function countRows(file: string): Promise<number> {
  let lines = 0;
  let last = 0x0a;
  for await (const chunk of createReadStream(file)) {
    if (!Buffer.isBuffer(chunk)) continue;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines++;
    last = chunk.at(-1) ?? last;
  }
  return Math.max(0, lines + (last === 0x0a ? 0 : 1) - 1);
}
