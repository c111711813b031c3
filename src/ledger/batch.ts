/** What a value of a type of Postgres is here. Fractions and large numbers are decimal text, a time may be text in ISO 8601, JSON is text by now. */
type Values = {
  boolean: boolean;
  bytea: Uint8Array;
  bigint: string | number;
  integer: number;
  json: string;
  jsonb: string;
  numeric: string;
  smallint: number;
  text: string;
  timestamptz: Date | string;
  uuid: string;
};

type Column<Row> = {
  [Type in keyof Values]: readonly [type: Type, value: (row: Row) => Values[Type] | null];
}[keyof Values];

export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** Rows that go into a statement as one array for each of their columns. */
export type Batch<Row> = {
  readonly columns: string;
  /**
   * SQL: the rows as a table that has these columns.
   *
   * @param first number of the parameter that is the first column; the others follow
   * @param ordinality name of one more column that numbers the rows from 1, in the order of the batch
   */
  table(alias: string, first?: number, ordinality?: string): string;
  values(rows: readonly Row[]): unknown[][];
};

export function batchOf<Row>(columns: Columns<Row>): Batch<Row> {
  const names = Object.keys(columns);
  const each = Object.values(columns);
  return {
    columns: names.join(', '),
    table: (alias, first = 1, ordinality) => {
      const arrays = each.map(([type], at) => `$${first + at}::${type}[]`);
      const all = ordinality === undefined ? names : [...names, ordinality];
      return `unnest(${arrays.join(', ')})${ordinality === undefined ? '' : ' WITH ORDINALITY'} AS ${alias} (${all.join(', ')})`;
    },
    values: (rows) => each.map(([, value]) => rows.map((row) => value(row))),
  };
}

/**
 * The parameter of an array of texts, numbers, booleans and times: in Postgres's own writing where that is JSON's but for the brackets, which is made in a
 * twentieth of the time; else pg writes it.
 */
export function toArrayParameter(values: readonly unknown[]): unknown {
  const text = JSON.stringify(values);
  return text.includes('\\') ? values : `{${text.slice(1, -1)}}`;
}
