import type { Campaign } from '../../campaign/campaign.ts';
import type { Definition } from '../../campaign/definition.ts';
import { matchColumns, neededColumns } from '../../campaign/match-columns.ts';
import { type ContactFile, openContactFile, readSample } from '../../contacts/contact-file.ts';
import { readFileBytes } from '../../contacts/file-bytes.ts';
import { type ColumnNames, withColumnNames } from '../../contacts/named-columns.ts';
import type { KeepBytes, ReadingOptions } from '../../contacts/opened-file.ts';
import { InputError } from '../../domain/problems.ts';
import { loadAccount, loadCampaign, sendingAccountOf } from '../load-definition.ts';
import type { Settings } from '../settings.ts';

/**
 * A contact file that a person brought for one run of a campaign, instead of the campaign's own. Plain data, because a
 * thread gets a copy.
 */
export type BroughtList = {
  /** As its person named it. */
  readonly name: string;
  /** Absolute. Nothing is there any more once its run is planned. */
  readonly path: string;
  readonly columns: ColumnNames;
  /** How it is read, instead of how the campaign's own files are. */
  readonly reading: ListReading;
};

export type ListReading = Pick<Definition['contacts'], 'skipLines'> &
  Pick<ReadingOptions, 'encoding' | 'sheet'>;

/** Characters: a page offers each column for each that the campaign needs. */
const maxHeader = 20_000;

/** Bytes of a list when it is unpacked. */
const maxUnpacked = 64 * 1_048_576;

/** The list instead of the campaign's contact files. */
export function withBroughtList({ value, locate }: Campaign, { name, path, reading }: BroughtList): Campaign {
  const { skipLines, encoding, sheet } = reading;
  const contacts = { ...value.contacts, file: [path], delimiter: undefined, skipLines, encoding, sheet };
  return {
    value: { ...value, contacts },
    locate: (keys) => (keys[0] === 'contacts' && keys[1] === 'file' ? name : locate(keys)),
  };
}

/** The definition for the ledger: with the columns of the list, so that its kept file can be read again. */
export function freezeDefinition(
  definition: Definition,
  list: Pick<BroughtList, 'name' | 'columns'> | undefined,
): object {
  if (!list) return definition;
  const { name, columns } = list;
  return { ...definition, contacts: { ...definition.contacts, file: [name], list: { columns } } };
}

/** @throws InputError when the list or its header cannot be read */
export async function openBroughtList(list: BroughtList, keep: KeepBytes): Promise<ContactFile> {
  return withColumnNames(await openList(list, keep), list.columns);
}

function openList({ name, path, reading }: Omit<BroughtList, 'columns'>, keep?: KeepBytes) {
  return openContactFile(readFileBytes(path, name), name, { ...reading, maxUnpacked }, keep);
}

export type ListMatch = Awaited<ReturnType<typeof matchList>>;

/**
 * Matches the columns of a list with those that a campaign needs, and reads its first rows.
 *
 * @param campaign its path, relative to the working folder
 * @throws InputError when the campaign, its account, or the list cannot be read
 */
export async function matchList(campaign: string, settings: Settings, list: Omit<BroughtList, 'columns'>) {
  const loaded = await loadCampaign(campaign, settings);
  const account = await loadAccount(loaded.value.account, settings, loaded.locate(['account']));
  const needed = neededColumns(loaded, sendingAccountOf(account));
  const file = await openList(list);
  const { header, rows } = await readSample(file, 3);
  if (header.join('').length > maxHeader) {
    const what = `The names of its columns have more than ${maxHeader.toLocaleString('en')} characters. Remove columns that the campaign does not use.`;
    throw new InputError([{ where: list.name, what }]);
  }
  return { needed, columns: matchColumns(needed, header), header, rows, format: file.format() };
}
