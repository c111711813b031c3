import { stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Campaign } from '../campaign/campaign.ts';
import type { Composition } from '../campaign/composition.ts';
import { standardInput } from '../campaign/definition.ts';
import { readBytes, readFileBytes } from '../contacts/bytes.ts';
import { type ContactFile, closeContactFile, type Delimiter, openContactFile } from '../contacts/read.ts';
import { InputError, type Problem } from '../domain.ts';
import { whyUnreadable } from '../platform/file-error.ts';
import type { Settings } from './settings.ts';

/**
 * The campaign with other contact files than its own.
 *
 * @param path of the campaign, relative to the working folder
 * @param files relative to the working folder
 */
export function withContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
  files: readonly string[],
): Campaign {
  const folder = campaignFolder(path, settings);
  const file = files.map((name) =>
    name === standardInput ? name : relative(folder, resolve(settings.workingFolder, name)),
  );
  if (file.filter((name) => name === standardInput).length > 1) {
    throw new InputError([{ where: contactsOption, what: 'Standard input can be read only once.' }]);
  }
  const { value, locate } = campaign;
  return {
    value: { ...value, contacts: { ...value.contacts, file } },
    // What is not in the campaign has no place there.
    locate: (place) => (place[0] === 'contacts' && place[1] === 'file' ? contactsOption : locate(place)),
  };
}

const contactsOption = '--contacts';

/**
 * Opens a campaign's contact files and reads their headers.
 *
 * @param path of the campaign, relative to the working folder
 * @throws InputError with what is wrong with the first that cannot be read; all are closed then
 */
export async function openContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
): Promise<readonly ContactFile[]> {
  const { file: names, encoding, delimiter, skipLines } = campaign.value.contacts;
  const options = { encoding, delimiter: delimiter && delimiters[delimiter], skipLines };
  const opened: ContactFile[] = [];
  try {
    for (const [index, name] of names.entries()) {
      const where = campaign.locate(['contacts', 'file', index]);
      const { bytes, shown } =
        name === standardInput
          ? pipedIn(settings, where)
          : await onDisk(resolve(campaignFolder(path, settings), name), settings, where);
      opened.push(await openContactFile(bytes, shown, options));
    }
    return opened;
  } catch (error) {
    await closeContactFiles(opened);
    throw error;
  }
}

export async function closeContactFiles(files: readonly ContactFile[]): Promise<void> {
  for (const file of files) await closeContactFile(file);
}

/**
 * A campaign is composed against the header of its first contact file.
 *
 * @throws InputError for every other file that lacks a column the campaign uses
 */
export function requireColumns(files: readonly ContactFile[], { fileColumns }: Composition): void {
  const [first, ...others] = files;
  const problems = others.flatMap(({ name, header }): Problem[] => {
    const missing = fileColumns.filter((column) => !header.includes(column));
    if (missing.length === 0) return [];
    const columns = missing.map((column) => `"${column}"`).join(', ');
    const what = `The file lacks ${columns}, which the campaign uses and ${first?.name} has. Its columns: ${header.join(', ')}.`;
    return [{ where: name, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
}

/**
 * How many lines the files before one have together. To be asked for a file once those before it have been read: what is
 * found is kept, for it is asked for every row.
 */
export function openLineCount(files: readonly ContactFile[]): (file: number) => number {
  const known = [0];
  return (file) => {
    for (let next = known.length; next <= file; next++) {
      known.push((known[next - 1] ?? 0) + (files[next - 1]?.lines() ?? 0));
    }
    return known[file] ?? 0;
  };
}

const delimiters: Readonly<Record<NonNullable<Campaign['value']['contacts']['delimiter']>, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

type Opened = { readonly bytes: AsyncIterable<Buffer>; readonly shown: string };

async function onDisk(path: string, settings: Settings, where: string): Promise<Opened> {
  const shown = relative(settings.workingFolder, path);
  try {
    await stat(path);
  } catch (error) {
    const what = `The contact file ${shown} cannot be read (${whyUnreadable(error)}).`;
    throw new InputError([{ where, what }], { cause: error });
  }
  return { bytes: readFileBytes(path, shown), shown };
}

function pipedIn(settings: Settings, where: string): Opened {
  const { standardInput: input } = settings;
  const shown = 'standard input';
  if (input && !input.isTTY) return { bytes: readBytes(input, shown), shown };
  const what = 'The contact file "-" is standard input, and nothing is piped into it; pipe a file in.';
  throw new InputError([{ where, what }]);
}

function campaignFolder(path: string, { workingFolder }: Settings): string {
  return resolve(workingFolder, dirname(path));
}
