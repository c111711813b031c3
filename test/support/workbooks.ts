import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A cell: a text, or its XML such as `<c t="b"><v>1</v></c>`; null: no cell. */
export type Cell = string | { readonly xml: string } | null;

type Part = string | Buffer | AsyncGenerator<string>;

export type WorkbookOptions = {
  readonly sheets?: readonly { readonly name: string; readonly state?: string; readonly data: string }[];
  readonly sharedStrings?: readonly string[];
  /** Format codes; the cell style 1 has the first of them, and so on. */
  readonly formats?: readonly string[];
  /** Numbers of built-in formats, for the styles after those. */
  readonly builtIn?: readonly number[];
  readonly workbookPr?: string;
  /** Replaces or adds parts; undefined removes one. */
  readonly parts?: Readonly<Record<string, Part | undefined>>;
};

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Cells as inline texts, without references, as some programs write them. */
export function sheetData(...rows: readonly (readonly Cell[])[]): string {
  return rows
    .map((cells) => {
      const xml = cells.map((cell) => {
        if (cell === null) return '<c/>';
        return typeof cell === 'string'
          ? `<c t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
          : cell.xml;
      });
      return `<row>${xml.join('')}</row>`;
    })
    .join('');
}

/** A number, with a style that `formats` or `builtIn` names from 1. */
export function number(value: number | string, style = 0): Cell {
  return { xml: `<c s="${style}"><v>${value}</v></c>` };
}

export function cell(xml: string): Cell {
  return { xml };
}

/** Makes a workbook of hand-made parts. */
export function workbookOf(
  data: string | Pick<WorkbookOptions, 'sheets'>,
  {
    sheets,
    sharedStrings = [],
    formats = [],
    builtIn = [],
    workbookPr = '',
    parts = {},
  }: WorkbookOptions = {},
): Promise<Buffer> {
  const all = sheets ?? (typeof data === 'string' ? [{ name: 'Sheet1', data }] : (data.sheets ?? []));
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  const styles = [0, ...formats.map((_, index) => 164 + index), ...builtIn];
  return zipOf({
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': relationships(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${relations}"><workbookPr ${workbookPr}/><sheets>${all
      .map(
        ({ name, state }, index) =>
          `<sheet name="${escapeXml(name)}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index + 1}"/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(
      ...all.map((_, index) => relation(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`)),
      relation('rIdS', 'styles', 'styles.xml'),
      relation('rIdT', 'sharedStrings', 'sharedStrings.xml'),
    ),
    'xl/styles.xml': `<styleSheet ${main}><numFmts>${formats
      .map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escapeXml(code)}"/>`)
      .join(
        '',
      )}</numFmts><cellXfs>${styles.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${main}>${sharedStrings.map((xml) => `<si>${xml}</si>`).join('')}</sst>`,
    ...Object.fromEntries(
      all.map((sheet, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `<worksheet ${main}><sheetData>${sheet.data}</sheetData></worksheet>`,
      ]),
    ),
    ...parts,
  });
}

function relationships(...xml: readonly string[]): string {
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${xml.join('')}</Relationships>`;
}

/** @param parts in their order; undefined: none */
export function zipOf(parts: Readonly<Record<string, Part | undefined>>): Promise<Buffer> {
  const zip = new ZipFile();
  const options = { mtime: new Date(1980, 0, 1) };
  for (const [path, content] of Object.entries(parts)) {
    if (content === undefined) continue;
    if (typeof content === 'string' || Buffer.isBuffer(content)) {
      const isXml = typeof content === 'string' && content.startsWith('<');
      zip.addBuffer(Buffer.from(isXml ? declaration + content : content), path, options);
    } else zip.addReadStream(Readable.from(content, { objectMode: false }), path, options);
  }
  zip.end();
  return buffer(zip.outputStream);
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
