import { xmlText } from './xlsx-cells.ts';

/** The parts of a workbook besides its worksheets and styles: where each part is, and what the file is. */
export type WorkbookParts = {
  /** In the order of their parts `xl/worksheets/sheet1.xml`, …. */
  readonly worksheets: readonly string[];
  readonly asOf: Date;
};

const mainSpace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const packageSpace = 'http://schemas.openxmlformats.org/package/2006';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export function workbookParts({ worksheets, asOf }: WorkbookParts): readonly (readonly [string, string])[] {
  const numbered = worksheets.map((name, index) => ({ name, number: index + 1 }));
  const styles = numbered.length + 1;
  return [
    [
      'xl/workbook.xml',
      `<workbook xmlns="${mainSpace}" xmlns:r="${relations}"><sheets>${numbered
        .map(({ name, number }) => `<sheet name="${xmlText(name)}" sheetId="${number}" r:id="rId${number}"/>`)
        .join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationships([
        ...numbered.map(({ number }) => [number, 'worksheet', `worksheets/sheet${number}.xml`] as const),
        [styles, 'styles', 'styles.xml'],
      ]),
    ],
    ['_rels/.rels', packageRelationships],
    ['docProps/core.xml', coreProperties(asOf)],
    [
      '[Content_Types].xml',
      `<Types xmlns="${packageSpace}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/>${numbered
        .map(
          ({ number }) =>
            `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${contentType}.worksheet+xml"/>`,
        )
        .join(
          '',
        )}<Override PartName="/xl/styles.xml" ContentType="${contentType}.styles+xml"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`,
    ],
  ];
}

function relationships(list: readonly (readonly [number, string, string])[]): string {
  const items = list.map(
    ([number, type, target]) =>
      `<Relationship Id="rId${number}" Type="${relations}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${packageSpace}/relationships">${items.join('')}</Relationships>`;
}

const packageRelationships = `<Relationships xmlns="${packageSpace}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${packageSpace}/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`;

function coreProperties(asOf: Date): string {
  const time = `${asOf.toISOString().slice(0, 19)}Z`;
  return `<cp:coreProperties xmlns:cp="${packageSpace}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:creator>Volley</dc:creator><cp:lastModifiedBy>Volley</cp:lastModifiedBy><dcterms:created xsi:type="dcterms:W3CDTF">${time}</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">${time}</dcterms:modified></cp:coreProperties>`;
}
