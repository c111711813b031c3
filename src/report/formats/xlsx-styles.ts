type CellStyle = {
  readonly format?: string | undefined;
  readonly bold?: boolean;
  /** A line above the cell, as above totals. */
  readonly lineAbove?: boolean;
  readonly align?: 'left' | 'right' | undefined;
  readonly wrap?: boolean;
};

export type Styles = ReturnType<typeof createStyles>;

/** The first number of a format that is not built in. */
const firstFormat = 164;

export function createStyles() {
  const numbers = new Map<string, number>();
  const styles: string[] = [];
  const formats = new Map<string, number>();
  const formatOf = (format: string | undefined): number => {
    if (format === undefined) return 0;
    const number = formats.get(format) ?? firstFormat + formats.size;
    formats.set(format, number);
    return number;
  };
  /** The number by which cells refer to a style; 0 is the plain one. */
  const numberOf = (style: CellStyle): number => {
    const xml = styleXml(style, formatOf(style.format));
    const known = numbers.get(xml);
    if (known !== undefined) return known;
    numbers.set(xml, styles.length);
    return styles.push(xml) - 1;
  };
  numberOf({});
  /** The part `xl/styles.xml`, with every style that was asked for. */
  const toXml = (): string => stylesXml(styles, formats);
  return { numberOf, toXml };
}

function styleXml({ bold, lineAbove, align, wrap }: CellStyle, format: number): string {
  const head = `<xf numFmtId="${format}" fontId="${bold ? 1 : 0}" fillId="0" borderId="${lineAbove ? 1 : 0}" xfId="0"`;
  const applied = `${format > 0 ? ' applyNumberFormat="1"' : ''}${bold ? ' applyFont="1"' : ''}${lineAbove ? ' applyBorder="1"' : ''}`;
  if (align === undefined && !wrap) return `${head}${applied}/>`;
  const horizontal = align === undefined ? '' : ` horizontal="${align}"`;
  return `${head}${applied} applyAlignment="1"><alignment${horizontal}${wrap ? ' wrapText="1"' : ''}/></xf>`;
}

/** The default font of cells; without a name Excel would choose another. */
const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';

function stylesXml(styles: readonly string[], formats: ReadonlyMap<string, number>): string {
  const numberFormats = [...formats].map(
    ([format, number]) => `<numFmt numFmtId="${number}" formatCode="${format.replaceAll('"', '&quot;')}"/>`,
  );
  return [
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
    ...(numberFormats.length === 0
      ? []
      : [`<numFmts count="${numberFormats.length}">`, ...numberFormats, '</numFmts>']),
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>`,
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
    '<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border>',
    '<border><left/><right/><top style="thin"><color auto="1"/></top><bottom/><diagonal/></border></borders>',
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
    `<cellXfs count="${styles.length}">`,
    ...styles,
    '</cellXfs>',
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
  ].join('');
}
