import { rejectionReasons } from '../../domain/contacts.ts';
import { resultFileColumns } from '../../domain/files.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { recipientStates } from '../../domain/runs.ts';
import type { ContactReport, ContactRow } from '../../engine/reporting/contact-report.ts';
import type { CellKind, CellValue, Column, Columns } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';

/** `filtered`: excluded by `contacts.where`. `beyond_limit`: left for a later run. */
export const reportedStates = [...recipientStates, ...rejectionReasons, 'filtered', 'beyond_limit'] as const;
export type ReportedState = (typeof reportedStates)[number];

type ResultColumn = (typeof resultFileColumns)[number];

/** The common prefix separates them from the contact file's columns. */
const resultColumns: Columns<ContactRow> = [
  resultColumn('Volley File', 'text', ({ file }) => file),
  resultColumn('Volley Line', 'integer', ({ line }) => line),
  resultColumn('Volley State', 'state', toReportedState),
  resultColumn('Volley Column', 'text', ({ result }) => result?.column ?? null),
  resultColumn('Volley Reason', 'text', ({ result }) => formatReasonOrNull(result?.reason ?? null)),
  resultColumn('Volley Address', 'text', ({ result }) => result?.address ?? null),
  resultColumn('Volley Variant', 'text', ({ variant }) => variant),
  resultColumn('Volley MessageID', 'text', ({ result }) => result?.messageId ?? null),
  resultColumn('Volley Units', 'decimal', ({ result }) => result?.units ?? null),
  resultColumn('Volley Price', 'decimal', ({ result }) => result?.price ?? null),
  resultColumn('Volley Row', 'text', ({ text }) => text),
];

function resultColumn(
  title: ResultColumn,
  kind: CellKind,
  value: (row: ContactRow) => CellValue,
): Column<ContactRow> {
  return { key: title, title, kind, value };
}

function toReportedState({ result, isBeyondLimit }: ContactRow): ReportedState {
  return result?.state ?? (isBeyondLimit ? 'beyond_limit' : 'filtered');
}

/**
 * The columns of the contact files, then Volley's own. The CSV can be read as a contact file again; columns of an
 * earlier result file are replaced.
 *
 * @param states includes only rows in these
 */
export function contactSheet(
  run: string,
  {
    asOf,
    columns,
    files,
    csv,
    hasVariants,
    rows,
  }: Omit<ContactReport, 'csv'> & Pick<Sheet<ContactRow>, 'csv'>,
  states: ReadonlySet<ReportedState>,
): Sheet<ContactRow> {
  const runColumn = resultColumn('Volley Run', 'text', () => run);
  const own = [runColumn, ...resultColumns].filter(
    ({ title }) =>
      (title !== 'Volley File' || files.length > 1) && (title !== 'Volley Variant' || hasVariants),
  );
  const titles = new Set<string>(resultFileColumns);
  const theirs = columns.flatMap((title, index): Column<ContactRow>[] =>
    titles.has(title)
      ? []
      : [{ key: title, title, kind: 'text', value: ({ values }) => values[index] ?? '' }],
  );
  const all = states.size === reportedStates.length;
  return {
    title: `Contacts of run ${run}`,
    subtitle: [files.join(', '), ...(all ? [] : [`only ${[...states].join(', ')}`])],
    asOf,
    columns: [...theirs, ...own],
    rows: filterStates(rows, states),
    csv,
  };
}

async function* filterStates(
  batches: AsyncIterable<readonly ContactRow[]>,
  states: ReadonlySet<ReportedState>,
): AsyncGenerator<readonly ContactRow[], void, undefined> {
  for await (const rows of batches) yield rows.filter((row) => states.has(toReportedState(row)));
}

/** Counts rows by state as they pass. */
export function countStates(): {
  readonly counts: ReadonlyMap<ReportedState, number>;
  readonly count: <Row extends ContactRow>(
    batches: AsyncIterable<readonly Row[]>,
  ) => AsyncIterable<readonly Row[]>;
} {
  const counts = new Map<ReportedState, number>();
  return {
    counts,
    async *count(batches) {
      for await (const rows of batches) {
        for (const row of rows) counts.set(toReportedState(row), (counts.get(toReportedState(row)) ?? 0) + 1);
        yield rows;
      }
    },
  };
}
