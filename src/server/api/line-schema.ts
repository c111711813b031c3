import { z } from 'zod';
import { type CellKind, type Column, type Columns, columnsFor } from '../../report/column.ts';

const kinds: Readonly<Record<CellKind, z.ZodType>> = {
  text: z.string(),
  words: z.string(),
  state: z.string(),
  integer: z.int(),
  decimal: z.string(),
  time: z.date(),
};

/**
 * The lines of a list, as `toRecord` makes them.
 *
 * @param others schemas of what is more than its kind, by key
 */
export function lineSchema<Row>(
  columns: Columns<Row>,
  others: Readonly<Record<string, z.ZodType>> = {},
): z.ZodObject {
  const shape = columnsFor(columns, 'json').map((column) => [
    column.key,
    others[column.key] ?? schemaOf(column),
  ]);
  return z.object(Object.fromEntries(shape));
}

function schemaOf<Row>({ kind, values, nullable, about }: Column<Row>): z.ZodType {
  const known = values ? z.enum(values) : kinds[kind];
  const schema = nullable ? known.nullable() : known;
  return about === undefined ? schema : schema.describe(about);
}
