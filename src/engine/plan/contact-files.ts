import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Campaign } from '../../campaign/campaign.ts';
import type { Composition } from '../../campaign/composition.ts';
import { standardInput } from '../../campaign/contacts-definition.ts';
import { type ContactFile, type Delimiter, openContactFile } from '../../contacts/contact-file.ts';
import { readBytes, readFileBytes } from '../../contacts/file-bytes.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { listNames } from '../../platform/suggestions.ts';
import { besideCampaign, folderOfCampaign } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import { type BroughtList, openBroughtList } from './brought-list.ts';
import type { KeptCampaign, KeptContactFiles } from './kept-contact-files.ts';

/** Replaces the campaign's contact files. */
export function withContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
  files: readonly string[],
): Campaign {
  const folder = folderOfCampaign(path, settings);
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
    list,
    former,
  }: {
    readonly path: string;
    readonly settings: Settings;
    /** Keeps the bytes that are read. */
    readonly kept: KeptContactFiles;
    /** The files as --contacts names them. */
    readonly replacingFiles: readonly string[] | undefined;
    readonly list: BroughtList | undefined;
    readonly former: KeptCampaign | undefined;
  },
): Promise<readonly ContactFile[]> {
  if (list) return [await openBroughtList(list, (bytes) => kept.keep(0, bytes))];
  const { file: names, encoding, delimiter, skipLines, sheet } = campaign.value.contacts;
  const options = { encoding, delimiter: delimiter && delimiters[delimiter], skipLines, sheet };
  const opened: ContactFile[] = [];
  try {
    for (const [index, name] of names.entries()) {
      const keep = (each: AsyncIterable<Buffer>) => kept.keep(index, each);
      const formerFile = former?.files[index];
      if (former && formerFile) {
        opened.push(await former.openFile(formerFile, keep));
        continue;
      }
      const where = campaign.locate(['contacts', 'file', index]);
      const { bytes, shown } =
        name === standardInput
          ? openStandardInput(settings, where)
          : await openFile(
              resolve(folderOfCampaign(path, settings), name),
              replacingFiles?.[index] ?? besideCampaign(path, name),
              where,
              'contact file',
            );
      opened.push(await openContactFile(bytes, shown, options, keep));
    }
    return opened;
  } catch (error) {
    await closeContactFiles(opened);
    throw error;
  }
}

/** Errors show the names that the user wrote. */
export function withShownFiles(campaign: Campaign, files: readonly ContactFile[]): Campaign {
  const file = files.map(({ name }) => name);
  return { ...campaign, value: { ...campaign.value, contacts: { ...campaign.value.contacts, file } } };
}

export async function sumContactFileBytes(
  campaign: Campaign,
  path: string,
  settings: Settings,
): Promise<number | undefined> {
  let bytes = 0;
  for (const name of campaign.value.contacts.file) {
    if (name === standardInput) return undefined;
    const { size } = await stat(resolve(folderOfCampaign(path, settings), name));
    bytes += size;
  }
  return bytes;
}

export async function closeContactFiles(files: readonly ContactFile[]): Promise<void> {
  for (const file of files) await file.close();
}

/** @throws InputError for every file that lacks a column of the first file that the campaign uses */
export function requireColumns(files: readonly ContactFile[], { requiredColumns }: Composition): void {
  const [first, ...others] = files;
  const problems = others.flatMap(({ name, header }): Problem[] => {
    const has = new Set(header);
    const missing = requiredColumns.filter((column) => !has.has(column));
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

/**
 * @param path absolute
 * @param shown as the user wrote it
 * @param kind such as "contact file"
 * @throws InputError when the file does not exist
 */
export async function openFile(
  path: string,
  shown: string,
  where: string,
  kind: string,
): Promise<{ readonly bytes: AsyncIterable<Buffer>; readonly shown: string }> {
  try {
    await stat(path);
  } catch (error) {
    const what = `The ${kind} ${shown} cannot be read (${unreadableReason(error, shown)}).`;
    throw new InputError([{ where, what }], { cause: error });
  }
  return { bytes: readFileBytes(path, shown), shown };
}

/**
 * Opens a file with rows that a campaign names, such as a list of suppressions.
 *
 * @param kind such as "suppression file"
 * @throws InputError when the file or its header cannot be read
 */
export async function openListFile(
  { path, name, where, kind }: Readonly<Record<'path' | 'name' | 'where' | 'kind', string>>,
  settings: Settings,
): Promise<ContactFile> {
  const file = resolve(folderOfCampaign(path, settings), name);
  const { bytes, shown } = await openFile(file, besideCampaign(path, name), where, kind);
  return openContactFile(bytes, shown);
}

/** Counts the lines of all files before one. Those files must have been read. */
export function countLinesBefore(files: readonly ContactFile[]): (file: number) => number {
  const known = [0];
  return (file) => {
    for (let index = known.length; index <= file; index++) {
      known.push((known[index - 1] ?? 0) + (files[index - 1]?.lines() ?? 0));
    }
    return known[file] ?? 0;
  };
}

/** `file`: its name, and its index. */
export type ContactPlace = { readonly file: string; readonly index: number; readonly line: number };

/** Finds the file of a line counted over all files. */
export function createPlaceFinder(
  files: readonly Pick<ContactFile, 'name'>[],
  linesBefore: (file: number) => number,
): (lineOfAll: number) => ContactPlace {
  return (lineOfAll) => {
    const index = files.findLastIndex((_, file) => linesBefore(file) < lineOfAll);
    return { file: files[index]?.name ?? '', index, line: lineOfAll - linesBefore(index) };
  };
}

/** `line 12`, or `b.csv:12` when there are several files. */
export function createFileAndLineFormatter(
  files: readonly Pick<ContactFile, 'name'>[],
  placeOf: (lineOfAll: number) => ContactPlace,
): (lineOfAll: number) => string {
  return (lineOfAll) => {
    const { file, line } = placeOf(lineOfAll);
    return files.length > 1 ? `${file}:${line}` : `line ${line}`;
  };
}
