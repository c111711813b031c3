import { createCellReader } from './cell-text.ts';
import { createNumberFormats } from './number-formats.ts';
import { readSharedStrings, type SharedStrings } from './shared-strings.ts';
import { type SheetRow, SheetRows } from './sheet-rows.ts';
import {
  namePart,
  readXmlPart,
  unreadablePart,
  type WorkbookParts,
  type WorkbookSheet,
} from './workbook-parts.ts';
import type { ZipArchive } from './zip-archive.ts';

export type OpenedSheet = {
  readonly rows: SheetRows;
  /** The header and the rows after it; enough to see that it is one. */
  readonly first: readonly SheetRow[];
  /** All others. Can be read once. */
  readonly rest: AsyncGenerator<readonly SheetRow[], void, undefined>;
  readonly close: () => Promise<void>;
};

type Source = { readonly zip: ZipArchive; readonly parts: WorkbookParts; readonly name: string };

/** As many rows as `title-line.ts` looks at. */
const headerRows = 21;

/** @throws InputError when a part cannot be read */
export async function openSheet(
  { zip, parts, name }: Source,
  { part }: WorkbookSheet,
  skipLines: number,
): Promise<OpenedSheet> {
  const formats = createNumberFormats(parts.from1904);
  if (parts.styles !== undefined) await readXmlPart(zip, parts.styles, name, formats.handlers);
  const cells = createCellReader(await readStrings(zip, parts.sharedStrings, name), formats);
  const rows = new SheetRows(zip.read(part), zip.sizeOf(part) ?? 0, cells);
  const rest = nameErrors(rows.read(), part, name);
  const first: SheetRow[] = [];
  while (first.length < headerRows) {
    const { done, value } = await rest.next();
    if (done) break;
    first.push(...value.filter(({ line }) => line > skipLines));
  }
  return { rows, first, rest, close: async () => void (await rest.return()) };
}

async function readStrings(zip: ZipArchive, part: string | undefined, name: string): Promise<SharedStrings> {
  const size = part === undefined ? undefined : zip.sizeOf(part);
  if (part === undefined || size === undefined) return () => undefined;
  return namePart(part, name, () => readSharedStrings(zip.read(part), size));
}

async function* nameErrors<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  part: string,
  name: string,
): AsyncGenerator<Item, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw unreadablePart(error, part, name);
  }
}
