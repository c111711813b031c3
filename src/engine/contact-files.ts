import { dirname, resolve } from 'node:path';
import type { Campaign } from '../campaign/campaign.ts';
import { type ContactFile, type Delimiter, type Encoding, openContactFile } from '../contacts/read.ts';
import { InputError } from '../domain.ts';
import type { KeptFiles } from './kept-files.ts';
import { openFile } from './open-file.ts';
import type { Settings } from './settings.ts';

export type OpeningOptions = {
  /** In place of those the campaign names; relative to the working folder. */
  readonly contactFiles?: readonly string[] | undefined;
  /** Keeps what is read of them. */
  readonly kept?: KeptFiles | undefined;
};

/** `-` among the contact files. */
const standardInput = '-';

type Contacts = Campaign['value']['contacts'];

const encodings: Readonly<Record<NonNullable<Contacts['encoding']>, Encoding>> = {
  'utf-8': 'utf-8',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  'windows-1252': 'windows-1252',
  'latin-1': 'windows-1252',
};

const delimiters: Readonly<Record<NonNullable<Contacts['delimiter']>, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

/**
 * Opens a campaign's contact files and reads their headers.
 *
 * @param path of the campaign, relative to the working folder
 * @throws InputError for the first that cannot be read
 */
export async function openContactFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
  { contactFiles, kept }: OpeningOptions,
): Promise<ContactFile[]> {
  const { file: names, encoding, delimiter, skipLines } = campaign.value.contacts;
  const folder = contactFiles ? settings.workingFolder : resolve(settings.workingFolder, dirname(path));
  const options = {
    encoding: encoding && encodings[encoding],
    delimiter: delimiter && delimiters[delimiter],
    skipLines,
  };
  const opened: ContactFile[] = [];
  try {
    for (const [index, name] of names.entries()) {
      const where = contactFiles ? '--contacts' : campaign.locate(['contacts', 'file', index]);
      const { bytes, shown } =
        name === standardInput
          ? { bytes: pipedInput(settings, where), shown: 'standard input' }
          : await openFile(resolve(folder, name), settings, where, 'contact file');
      opened.push(await openContactFile(kept ? kept.keep(index, bytes) : bytes, shown, options));
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ close }) => close()));
    throw error;
  }
}

function pipedInput({ standardInput: input }: Settings, where: string): AsyncIterable<Buffer> {
  if (input && input.isTTY !== true) return input;
  const what =
    'The contacts are to come from standard input ("-"), and it is a terminal; pipe a file into it.';
  throw new InputError([{ where, what }]);
}
