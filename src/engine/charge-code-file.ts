import { stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Campaign } from '../campaign/campaign.ts';
import { type ChargeCodeList, checkCampaignChargeCode } from '../campaign/charge-codes.ts';
import { type ContactFile, openContactFile } from '../contacts/read.ts';
import { InputError, type InterfaceName } from '../domain.ts';
import { whyUnreadable } from '../platform/file-error.ts';
import { nearest } from '../platform/nearest.ts';

/**
 * Reads the campaign's list of valid ChargeCodes; undefined where it has none. Holds the campaign's own ChargeCode
 * against it, if that is the same for everybody.
 *
 * @param path of the campaign, relative to the working folder
 * @throws InputError when the file cannot be read, has no such column or no codes, or does not have the campaign's
 */
export async function openChargeCodes(
  campaign: Campaign,
  interfaceName: InterfaceName,
  path: string,
  workingFolder: string,
): Promise<ChargeCodeList | undefined> {
  const { chargeCodes } = campaign.value;
  if (chargeCodes === undefined) return undefined;
  const fullPath = resolve(workingFolder, dirname(path), chargeCodes.file);
  const name = relative(workingFolder, fullPath);
  // `chargeCodes` itself may be the file's name.
  const where = campaign.locate(['chargeCodes', 'file']);
  const file = await openListFile(fullPath, name, where);
  const column = codeColumn(file.header, chargeCodes.column, name, campaign);
  const list = { name, codes: await readCodes(file, column, name) };
  if (list.codes.size === 0) {
    throw new InputError([{ where: name, what: 'The file has no ChargeCodes; expected one a line.' }]);
  }
  checkCampaignChargeCode(campaign, interfaceName, list);
  return list;
}

async function openListFile(fullPath: string, name: string, where: string): Promise<ContactFile> {
  try {
    await stat(fullPath);
  } catch (error) {
    const what = `The file of ChargeCodes ${name} cannot be read (${whyUnreadable(error)}).`;
    throw new InputError([{ where, what }], { cause: error });
  }
  return openContactFile(fullPath, name);
}

/** Where the codes stand in a row, and whether the first line holds one too. */
type CodeColumn = { readonly position: number; readonly headerIsCode: boolean };

/**
 * The column that is named; else the one that is called ChargeCode, however that is written; else the only one. A
 * list that is nothing but codes has no header: its first line is one of them.
 */
function codeColumn(
  header: readonly string[],
  named: string | undefined,
  name: string,
  campaign: Campaign,
): CodeColumn {
  const columns = `Its columns: ${header.join(', ')}.`;
  if (named !== undefined) {
    const position = header.indexOf(named);
    if (position >= 0) return { position, headerIsCode: false };
    const what = `${name} has no column "${named}".${nearest(named, header)} ${columns}`;
    throw new InputError([{ where: campaign.locate(['chargeCodes', 'column']), what }]);
  }

  const [likely, ...others] = likelyColumns(header);
  if (likely !== undefined && others.length === 0) {
    return { position: header.indexOf(likely), headerIsCode: false };
  }
  if (header.length === 1) return { position: 0, headerIsCode: true };
  const found = likely === undefined ? 'None' : 'Several';
  const what = `${found} of the columns of ${name} could be the ChargeCode; name it: chargeCodes: { file: …, column: … }. ${columns}`;
  throw new InputError([{ where: campaign.locate(['chargeCodes']), what }]);
}

/** The surest name first. */
const columnNames = [/^chargecodes?$/, /^codes?$/];

function likelyColumns(header: readonly string[]): string[] {
  const found = columnNames.map((pattern) =>
    header.filter((column) => pattern.test(column.toLowerCase().replaceAll(/[\s_-]/g, ''))),
  );
  return found.find((columns) => columns.length > 0) ?? [];
}

async function readCodes(
  file: ContactFile,
  { position, headerIsCode }: CodeColumn,
  name: string,
): Promise<ReadonlySet<string>> {
  const codes = new Set<string>();
  const add = (code = ''): void => {
    if (code.trim() !== '') codes.add(code.trim());
  };
  if (headerIsCode) add(file.header[position]);
  for await (const { line, values } of file.rows) {
    if (values.length !== file.header.length) {
      // A list that is read in part would call good codes bad.
      const what = `${values.length} values, where the first line has ${file.header.length}.`;
      throw new InputError([{ where: `${name}:${line}`, what }]);
    }
    add(values[position]);
  }
  return codes;
}
