import type { Campaign } from '../../campaign/campaign.ts';
import {
  type ChargeCodeList,
  checkCampaignChargeCode,
  createChargeCodeCheck,
} from '../../campaign/charge-codes.ts';
import { findByNames } from '../../campaign/guess-columns.ts';
import { cellFault } from '../../contacts/cell-notes.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { InterfaceName } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import type { Settings } from '../settings.ts';
import { openListFile } from './contact-files.ts';

/**
 * Reads the list of valid ChargeCodes, and checks a ChargeCode without placeholders.
 *
 * @throws InputError when the file is unreadable, lacks the column or any codes, or the campaign's ChargeCode is not
 *   in it
 */
export async function openChargeCodes(
  campaign: Campaign,
  interfaceName: InterfaceName,
  path: string,
  settings: Settings,
): Promise<ChargeCodeList | undefined> {
  const { chargeCodes } = campaign.value;
  if (chargeCodes === undefined) return undefined;
  // `chargeCodes` may be the file name itself.
  const where = campaign.locate(['chargeCodes', 'file']);
  const opening = { path, name: chargeCodes.file, where, kind: 'file of ChargeCodes' };
  const file = await openListFile(opening, settings);
  const { name } = file;
  try {
    const column = findCodeColumn(file.header, chargeCodes.column, name, campaign);
    const list = { name, codes: await readCodes(file, column) };
    if (list.codes.size === 0)
      throw new InputError([{ where: name, what: 'The file has no ChargeCodes; expected one a line.' }]);
    checkCampaignChargeCode(campaign, interfaceName, list);
    return list;
  } finally {
    await file.close();
  }
}

type CodeColumn = { readonly index: number; readonly headerIsCode: boolean };

/**
 * Chooses the configured column, else the one named like ChargeCode, else the only one. A file of codes alone has no
 * header: its first line is a code.
 */
function findCodeColumn(
  header: readonly string[],
  named: string | undefined,
  name: string,
  campaign: Campaign,
): CodeColumn {
  const columns = `Its columns: ${header.join(', ')}.`;
  if (named !== undefined) {
    const index = header.indexOf(named);
    if (index >= 0) return { index, headerIsCode: false };
    const what = `${name} has no column "${named}".${didYouMean(named, header)} ${columns}`;
    throw new InputError([{ where: campaign.locate(['chargeCodes', 'column']), what }]);
  }

  const [likely, ...others] = findByNames(header, columnNames);
  if (likely !== undefined && others.length === 0) {
    return { index: header.indexOf(likely), headerIsCode: false };
  }
  if (header.length === 1) return { index: 0, headerIsCode: true };
  const found = likely === undefined ? 'None' : 'Several';
  const what = `${found} of the columns of ${name} could be the ChargeCode; name it: chargeCodes: { file: …, column: … }. ${columns}`;
  throw new InputError([{ where: campaign.locate(['chargeCodes']), what }]);
}

/** The most specific name first. */
const columnNames = [
  ['chargecode', 'chargecodes'],
  ['code', 'codes'],
];

/** @throws InputError after the last contact, when any ChargeCode is not in the list */
export async function* checkChargeCodes(
  contacts: AsyncIterable<readonly Contact[]>,
  list: ChargeCodeList,
  fileName: (file: number) => string,
  where: string,
): AsyncGenerator<readonly Contact[], void, undefined> {
  const { check, throwIfAny } = createChargeCodeCheck(list, where);
  for await (const batch of contacts) {
    for (const contact of batch) {
      if (contact.kind === 'rejected') continue;
      check(contact.envelope.fields['ChargeCode'], contact.line, fileName(contact.file));
    }
    yield batch;
  }
  throwIfAny();
}

async function readCodes(
  file: ContactFile,
  { index, headerIsCode }: CodeColumn,
): Promise<ReadonlySet<string>> {
  const codes = new Set<string>();
  const add = (code = ''): void => {
    if (code.trim() !== '') codes.add(code.trim());
  };
  if (headerIsCode) add(file.header[index]);
  for await (const batch of file.batches) {
    for (const row of batch) {
      // A partly read list would reject valid codes.
      if (row.kind === 'broken') {
        throw new InputError([
          { where: file.place(row.line), what: `The row cannot be read: ${row.detail}.` },
        ]);
      }
      const fault = cellFault(row, index);
      if (fault !== undefined)
        throw new InputError([
          { where: file.place(row.line, index), what: `The row cannot be read: ${fault}.` },
        ]);
      add(row.values[index]);
    }
  }
  return codes;
}
