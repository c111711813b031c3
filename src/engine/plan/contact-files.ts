import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { Campaign } from '../../campaign/campaign.ts';
import type { Composition } from '../../campaign/composition.ts';
import { standardInput } from '../../campaign/contacts-definition.ts';
import {
  type ContactFile,
  closeContactFile,
  type Delimiter,
  openContactFile,
} from '../../contacts/contact-file.ts';
import { readBytes } from '../../contacts/file-bytes.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { listNames } from '../../platform/suggestions.ts';
import { besideCampaign } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import type { KeptContactFiles } from './kept-contact-files.ts';
import { openFile } from './open-file.ts';

/** Replaces the campaign's contact files. */
export function withContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
  files: readonly string[],
): Campaign {
  const folder = campaignFolder(path, settings);
  const file = files.map((name) =>
    name === standardInput || isAbsolute(name)
      ? name
      : relative(folder, resolve(settings.workingFolder, name)),
  );
  if (file.filter((name) => name === standardInput).length > 1) {
    throw new InputError([{ where: contactsOption, what: 'Standard input can be read only once.' }]);
  }
  const { value, locate } = campaign;
  return {
    value: { ...value, contacts: { ...value.contacts, file } },
    // Errors name the option, because these files come from it.
    locate: (keys) => (keys[0] === 'contacts' && keys[1] === 'file' ? contactsOption : locate(keys)),
  };
}

const contactsOption = '--contacts';

/** @throws InputError for the first unreadable file; all files are closed then */
export async function openContactFiles(
  campaign: Campaign,
  {
    path,
    settings,
    kept,
    replacingFiles,
  }: {
    readonly path: string;
    readonly settings: Settings;
    /** Keeps the bytes that are read. */
    readonly kept: KeptContactFiles;
    /** The files as --contacts names them. */
    readonly replacingFiles: readonly string[] | undefined;
  },
): Promise<readonly ContactFile[]> {
  const { file: names, encoding, delimiter, skipLines, sheet } = campaign.value.contacts;
  const options = { encoding, delimiter: delimiter && delimiters[delimiter], skipLines, sheet };
  const opened: ContactFile[] = [];
  try {
    for (const [index, name] of names.entries()) {
      const where = campaign.locate(['contacts', 'file', index]);
      const { bytes, shown } =
        name === standardInput
          ? openStandardInput(settings, where)
          : await openFile(
              resolve(campaignFolder(path, settings), name),
              replacingFiles?.[index] ?? besideCampaign(path, name),
              where,
              'contact file',
            );
      const keep = (each: AsyncIterable<Buffer>) => kept.keep(index, each);
      opened.push(await openContactFile(bytes, shown, options, keep));
    }
    return opened;
  } catch (error) {
    await closeContactFiles(opened);
    throw error;
  }
}

export async function sumContactFileBytes(
  campaign: Campaign,
  path: string,
  settings: Settings,
): Promise<number | undefined> {
  let bytes = 0;
  for (const name of campaign.value.contacts.file) {
    if (name === standardInput) return undefined;
    const { size } = await stat(resolve(campaignFolder(path, settings), name));
    bytes += size;
  }
  return bytes;
}

export async function closeContactFiles(files: readonly ContactFile[]): Promise<void> {
  for (const file of files) await closeContactFile(file);
}

/** @throws InputError for every file that lacks a column of the first file that the campaign uses */
export function requireColumns(files: readonly ContactFile[], { fileColumns }: Composition): void {
  const [first, ...others] = files;
  const problems = others.flatMap(({ name, header }): Problem[] => {
    const has = new Set(header);
    const missing = fileColumns.filter((column) => !has.has(column));
    if (missing.length === 0) return [];
    const columns = listNames(missing.map((column) => `"${column}"`));
    const what = `The file lacks ${columns}, which the campaign uses and ${first?.name} has. Its columns: ${listNames(header)}.`;
    return [{ where: name, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
}

const delimiters: Readonly<Record<NonNullable<Campaign['value']['contacts']['delimiter']>, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

type Opened = Awaited<ReturnType<typeof openFile>>;

function openStandardInput(settings: Settings, where: string): Opened {
  const { standardInput: input } = settings;
  const shown = 'standard input';
  if (input && !input.isTTY) return { bytes: readBytes(input, shown), shown };
  const what = 'The contact file "-" is standard input, but nothing is piped in. Pipe a file in.';
  throw new InputError([{ where, what }]);
}

function campaignFolder(path: string, { workingFolder }: Settings): string {
  return resolve(workingFolder, dirname(path));
}
