import { stringify } from 'csv-stringify/sync';
import { recipientStates, rejectionReasons } from '../domain.ts';
import type { ContactResult } from '../ledger/runs/contact-results.ts';

/** A row of a contact file with what became of it; the result is undefined where `contacts.where` left it out. */
export type ContactRow = {
  readonly file: string;
  readonly line: number;
  readonly values: readonly string[];
  /** A row that could not be read, as it stands in the file. */
  readonly text: string;
  readonly result: ContactResult | undefined;
};

/** States that a contact can have in the result file. `filtered`: left out by `contacts.where`. */
export const reportedStates = [...recipientStates, ...rejectionReasons, 'filtered'] as const;
export type ReportedState = (typeof reportedStates)[number];

type Column = { readonly title: string; readonly value: (row: ContactRow) => string };

/** They begin with the same word, so that they stay apart from the columns of the contact file. */
const resultColumns: readonly Column[] = [
  { title: 'Volley Line', value: ({ line }) => String(line) },
  { title: 'Volley State', value: reportedState },
  { title: 'Volley Column', value: ({ result }) => result?.column ?? '' },
  { title: 'Volley Reason', value: ({ result }) => result?.reason ?? '' },
  { title: 'Volley Address', value: ({ result }) => result?.address ?? '' },
  { title: 'Volley MessageID', value: ({ result }) => result?.messageId ?? '' },
  { title: 'Volley Units', value: ({ result }) => result?.units ?? '' },
  { title: 'Volley Price', value: ({ result }) => result?.price ?? '' },
  { title: 'Volley Row', value: ({ text }) => text },
];
const fileColumn: Column = { title: 'Volley File', value: ({ file }) => file };

export function reportedState({ result }: ContactRow): ReportedState {
  return result?.state ?? 'filtered';
}

/**
 * The result file: the columns of the contact files, then Volley's own. It can be read as a contact file again; columns
 * of an earlier result file in it are replaced.
 *
 * @param columns those of the contact files
 * @param severalFiles whether rows say which file they are from
 */
export function contactsCsv(
  columns: readonly string[],
  severalFiles: boolean,
): { readonly header: string; readonly rows: (rows: readonly ContactRow[]) => string } {
  const own = severalFiles ? [fileColumn, ...resultColumns] : resultColumns;
  const titles = new Set([fileColumn, ...resultColumns].map(({ title }) => title));
  const places = columns.flatMap((column, place) => (titles.has(column) ? [] : [place]));
  const cells = (row: ContactRow): string[] => [
    ...places.map((place) => row.values[place] ?? ''),
    ...own.map(({ value }) => value(row)),
  ];
  const header = [...places.map((place) => columns[place] ?? ''), ...own.map(({ title }) => title)];
  return { header: stringify([header]), rows: (rows) => stringify(rows.map(cells)) };
}
