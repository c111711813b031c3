import type { Part } from './html/html.ts';
import { formatLocal } from './time.ts';

/** A decimal is exact text; null is an empty cell. */
export type CellValue = string | number | Date | null;

/** Words have any length; a state is a word of a closed list. Numbers stand at the end of their cells. */
export type CellKind = 'text' | 'words' | 'state' | 'integer' | 'decimal' | 'time';

/** The terminal; a page of the dashboard; CSV, workbook and the other formats of a report; JSON of lines and of the API. */
type Medium = 'screen' | 'page' | 'file' | 'json';

/** What a cell is about. The dashboard knows the address of its page. */
export type Link =
  | { readonly kind: 'run'; readonly run: string }
  /** One recipient of a run, by its line, counted from file to file. */
  | { readonly kind: 'recipient of run'; readonly run: string; readonly row: number }
  /** A search: by address, MessageID or job number. */
  | { readonly kind: 'recipient'; readonly recipient: string }
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'runs of campaign'; readonly campaign: string }
  /** A question that only the dashboard asks. */
  | { readonly kind: 'page'; readonly path: string };

/** A column of a list: what every rendering of the list says of it. */
export type Column<Row, Key extends string = string> = {
  /** Its name in JSON, and its only one in a list. */
  readonly key: Key;
  /** The title of a time gets its zone. */
  readonly title: string;
  readonly kind: CellKind;
  readonly value: (row: Row) => CellValue;
  /** What people read where programs need the value, such as `all` for null. */
  readonly shown?: ((row: Row) => CellValue) | undefined;
  /** What people read beside the value, such as why a run is in its state. */
  readonly note?: ((row: Row) => CellValue) | undefined;
  readonly target?: ((row: Row) => Link | null | undefined) | undefined;
  /** In a page, instead of the value. */
  readonly cell?: ((row: Row) => Part) | undefined;
  /** In JSON of lines and of the API, instead of the value. */
  readonly json?: ((row: Row) => unknown) | undefined;
  /** What it can be, if that is a closed list. */
  readonly values?: readonly string[] | undefined;
  /** The document of the API says whether it can be null, and what its key does not say. */
  readonly nullable?: true | undefined;
  readonly about?: string | undefined;
  /** Everywhere if undefined. */
  readonly only?: readonly Medium[] | undefined;
  /** Empty in all rows. Formats for reading drop the column; formats for programs keep it. */
  readonly blank?: boolean;
  /** On a narrow screen, columns with the greatest number are dropped first; columns without one stay. */
  readonly minor?: number | undefined;
};

export type Columns<Row, Key extends string = string> = readonly Column<Row, Key>[];

type More<Row> = Omit<Column<Row>, 'key' | 'title' | 'kind' | 'value'>;
type RowWith<Key extends string> = Readonly<Record<Key, CellValue>>;

/** A column of what stands under its key in a row, or of another value. */
type MakeColumn = {
  <Key extends string>(key: Key, title: string, more?: More<RowWith<Key>>): Column<RowWith<Key>, Key>;
  <Row, Key extends string = string>(
    key: Key,
    title: string,
    value: (row: Row) => CellValue,
    more?: More<Row>,
  ): Column<Row, Key>;
};

function columnOf(kind: CellKind): MakeColumn {
  return <Key extends string>(
    key: Key,
    title: string,
    valueOrMore: ((row: RowWith<Key>) => CellValue) | More<RowWith<Key>> = {},
    more: More<RowWith<Key>> = {},
  ) =>
    typeof valueOrMore === 'function'
      ? { key, title, kind, value: valueOrMore, ...more }
      : { key, title, kind, value: (row: RowWith<Key>) => row[key], ...valueOrMore };
}

export const textColumn = columnOf('text');
export const wordsColumn = columnOf('words');
export const stateColumn = columnOf('state');
export const integerColumn = columnOf('integer');
export const decimalColumn = columnOf('decimal');
export const timeColumn = columnOf('time');

/** A column of a page only, such as a link to an action. */
export function cellColumn<Row>(title: string, cell: (row: Row) => Part): Column<Row> {
  return { key: title, title, kind: 'text', value: () => null, cell, only: ['page'] };
}

/** The columns of a list, with their keys: `columnsOf<Row>()([…])`. TypeScript infers all type arguments of a call or none. */
export function columnsOf<Row>() {
  return <Key extends string>(columns: Columns<Row, Key>): Columns<Row, Key> => columns;
}

/** The columns that one kind of rendering has. */
export function columnsFor<Row>(columns: Columns<Row>, medium: Medium): Columns<Row> {
  return columns.filter(({ only }) => only === undefined || only.includes(medium));
}

/** A column by its key, or with changes. */
type Picked<Row, Key extends string> = Key | (Partial<Column<Row>> & { readonly key: Key });

/** These columns of a list, in this order. */
export function pickColumns<Row, Key extends string, Own = Row>(
  columns: Columns<Row, Key>,
  ...picked: readonly Picked<Own, NoInfer<Key>>[]
): Columns<Row & Own> {
  return picked.flatMap((each) => {
    const changes = typeof each === 'string' ? { key: each } : each;
    return columns.filter(({ key }) => key === changes.key).map((column) => ({ ...column, ...changes }));
  });
}

/** `Since (Pacific/Auckland)` for a time. @param zone of the times that are shown */
export function titleOf({ title, kind }: Pick<Column<never>, 'title' | 'kind'>, zone = 'UTC'): string {
  return kind === 'time' ? `${title} (${zone})` : title;
}

/** Writes a value for programs: exact; times in ISO 8601, UTC. */
export function cellText(value: CellValue): string {
  if (value === null) return '';
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Writes a value for people. */
export function shownText<Row>({ kind, value, shown = value }: Column<Row>, row: Row, zone: string): string {
  const cell = shown(row);
  if (cell instanceof Date) return formatLocal(cell, zone);
  return kind === 'state' ? cellText(cell).replaceAll('_', ' ') : cellText(cell);
}

/** Writes a note for people; empty if there is none. */
export function noteText<Row>({ note }: Column<Row>, row: Row, zone: string): string {
  const cell = note?.(row) ?? null;
  return cell instanceof Date ? formatLocal(cell, zone) : cellText(cell);
}

/** Whether it stands at the end of its cell. */
export function isNumber({ kind }: Pick<Column<never>, 'kind'>): boolean {
  return kind === 'integer' || kind === 'decimal';
}
