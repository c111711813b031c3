import Table from 'cli-table3';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  readonly align?: 'left' | 'right';
};

/** Rows as a table for the terminal. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], totals?: Row): string {
  const cells = (row: Row): string[] => columns.map(({ value }) => printable(String(value(row))));
  const drawn = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...rows.map(cells));
  if (totals)
    drawn.push(
      columns.map(() => ''),
      cells(totals),
    );
  return drawn.toString();
}

/**
 * Text from files and from the service may hold control characters, which a terminal would obey
 * (move the cursor, change the title). They are shown instead.
 */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    /[\u0000-\u001f\u007f-\u009f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
