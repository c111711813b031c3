import type { RecipientKey } from '../../ledger/recipients/find.ts';
import type { RecipientHistory } from '../../ledger/recipients/history.ts';
import {
  type Columns,
  decimalColumn,
  stateColumn,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../../report/column.ts';
import type { Html } from '../../report/html/html.ts';
import { runColumn } from '../../report/lists/usual.ts';
import { formatCampaign } from '../../report/run/run-summary.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { runPath } from '../paths.ts';

/** A recipient, or a row that was left out. `values`: of the contact file, if it was searched. */
type RecipientRow = RecipientKey & {
  readonly values?: Readonly<Record<string, string>>;
  readonly history: RecipientHistory | undefined;
};

export function asRow(history: RecipientHistory): RecipientRow {
  const { run, row } = history;
  return { run, row, history };
}

/** Recipients of any runs. Each leads to its page, or to the list of what was left out. */
export function recipientsTable(
  caption: string,
  rows: readonly RecipientRow[],
  viewer: Pick<Viewer, 'zone'>,
): Html {
  const hasValues = rows.some(({ values }) => values !== undefined);
  const shown = columns.filter(({ key }) => key !== 'values' || hasValues);
  return listTable({ caption, columns: shown, rows }, viewer);
}

const columns: Columns<RecipientRow> = [
  textColumn('address', 'Recipient', ({ history }) => (history ? history.address || 'erased' : 'left out'), {
    target: ({ run, row, history }) =>
      history
        ? { kind: 'recipient of run', run, row }
        : { kind: 'page', path: runPath(run, 'recipients', { state: 'left out', after: String(row - 1) }) },
  }),
  stateColumn('state', 'State', ({ history }) => history?.state ?? null),
  wordsColumn('values', 'Row of the contact file', ({ values = {} }) => Object.values(values).join(' · ')),
  textColumn('campaign', 'Campaign', ({ history }) => (history ? formatCampaign(history) : null)),
  timeColumn('plannedAt', 'Planned', ({ history }) => history?.plannedAt ?? null),
  runColumn,
  decimalColumn('price', 'Price', ({ history }) => history?.price ?? null),
];
