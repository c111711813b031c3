import { posix } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { parseXml, withoutPrefix, XmlError } from './xml-parser.ts';
import type { ZipArchive } from './zip-archive.ts';

export type WorkbookSheet = {
  readonly name: string;
  readonly hidden: boolean;
  /** Its part of the archive. */
  readonly part: string;
};

export type WorkbookParts = {
  /** In their order, without charts. */
  readonly sheets: readonly WorkbookSheet[];
  readonly sharedStrings: string | undefined;
  readonly styles: string | undefined;
  /** Days are counted from 1904, as old workbooks from a Mac do. */
  readonly from1904: boolean;
};

/**
 * @param name of the file, in errors
 * @throws InputError when the archive is no workbook that can be read
 */
export async function readWorkbookParts(zip: ZipArchive, name: string): Promise<WorkbookParts> {
  const [main] = [...(await readRelations(zip, '', name)).values()].filter(
    ({ type }) => type === 'officeDocument',
  );
  const workbook = main?.part ?? 'xl/workbook.xml';
  if (zip.sizeOf(workbook) === undefined || !workbook.toLowerCase().endsWith('.xml'))
    throw new InputError([{ where: name, what: describeOtherArchive(zip.names) }]);
  const relations = await readRelations(zip, workbook, name);
  const sheets: WorkbookSheet[] = [];
  let from1904 = false;
  await readXmlPart(zip, workbook, name, {
    open: (element, attributes) => {
      if (element === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      if (element !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key.includes(':') && withoutPrefix(key) === 'id');
      const relation = relations.get(id?.[1] ?? '');
      const { name: title, state } = attributes;
      if (title === undefined || relation?.type !== 'worksheet') return;
      sheets.push({ name: title, hidden: state !== undefined && state !== 'visible', part: relation.part });
    },
  });
  const partOf = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type === type)?.part;
  return { sheets, sharedStrings: partOf('sharedStrings'), styles: partOf('styles'), from1904 };
}

type Relation = { readonly type: string; readonly part: string };

/** The relations by their identifiers. `part` is empty for the archive itself. */
async function readRelations(
  zip: ZipArchive,
  part: string,
  name: string,
): Promise<ReadonlyMap<string, Relation>> {
  const folder = posix.dirname(part);
  const path = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  if (zip.sizeOf(path) === undefined) return relations;
  await readXmlPart(zip, path, name, {
    open: (element, { Id, Type, Target, TargetMode }) => {
      if (element !== 'Relationship' || Id === undefined || Type === undefined || Target === undefined)
        return;
      // A part outside of the file is never opened.
      if (TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: posix.basename(Type), part: target });
    },
  });
  return relations;
}

/** @throws InputError */
export async function readXmlPart(
  zip: ZipArchive,
  part: string,
  name: string,
  handlers: Parameters<typeof parseXml>[1],
): Promise<void> {
  await namePart(part, name, () => parseXml(zip.read(part), handlers));
}

/** Errors in the XML of a part become errors of the file. */
export async function namePart<Result>(
  part: string,
  name: string,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw unreadablePart(error, part, name);
  }
}

export function unreadablePart(error: unknown, part: string, name: string): unknown {
  if (!(error instanceof XmlError)) return error;
  const what = `The workbook cannot be read: in its part ${part}, ${error.message}. Open it in the spreadsheet program and save it again.`;
  return new InputError([{ where: name, what }], { cause: error });
}

const saveAs =
  'Open it in the spreadsheet program and save it as a workbook (.xlsx), or the sheet as "CSV UTF-8".';

/** Names of parts that identify other archives. */
const archives: readonly (readonly [RegExp, string])[] = [
  [/^xl\/workbook\.bin$/i, `The file is a binary Excel workbook (xlsb). ${saveAs}`],
  [/^Index\/Document\.iwa$|^Index\.zip$/, `The file is a document of Numbers, Pages or Keynote. ${saveAs}`],
  [/^word\//, 'The file is a text document. Save the list as plain text, as CSV.'],
  [/^ppt\//, 'The file is a presentation. Ask for the list as CSV.'],
  [/^content\.xml$/, `The file is an OpenDocument file, probably a workbook (ods). ${saveAs}`],
];

function describeOtherArchive(names: readonly string[]): string {
  return (
    archives.find(([pattern]) => names.some((each) => pattern.test(each)))?.[1] ??
    'The file is compressed with zip. Decompress it, or compress the CSV file itself with gzip.'
  );
}
