import { canBeMessageId } from '../../domain/message-id.ts';
import { InputError } from '../../domain/problems.ts';
import { type Away, askCells, type CellAnswers, type CellPart } from '../../engine/cells/ask-cells.ts';
import { cellsPath, loadCells } from '../../engine/cells/cells-file.ts';
import { addUpTotals, closingOfAll, readCellBilling } from '../../engine/cells/figures.ts';
import type { EngineContext } from '../../engine/context.ts';
import {
  comparedAddressOf,
  type RecipientReport,
  searchRecipient,
} from '../../engine/reporting/recipient-report.ts';
import { listSuppressionsOfAddress } from '../../engine/suppressions/own-suppressions.ts';
import type { BillingQuery } from '../../ledger/billing/report.ts';
import { listRuns, type RunWithOutcome } from '../../ledger/runs/find.ts';
import { isMonth, monthAfter } from '../../platform/months.ts';
import { billingSheet } from '../../report/billing/billing-sheet.ts';
import { type Columns, pickColumns, textColumn } from '../../report/column.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { suppressionColumns } from '../../report/lists/suppressions.ts';
import { withCell } from '../../report/lists/usual.ts';
import { formatLocal } from '../../report/time.ts';
import { createCallLimit } from '../../server/api/call-limits.ts';
import { textIn } from '../base/fields.ts';
import { problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { listTable } from '../parts/list.ts';
import { section } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

const maxRuns = 50;
const maxFound = 20;

/**
 * All cells of VOLLEY_CELLS: their newest runs, a month of their billing, and a search for a person. A token of this
 * ledger shows other ledgers and why one is away, so it must be an administrator's.
 */
export function addCellsPage({ addPage, campaignSource: { settings } }: Tools): void {
  if (cellsPath(settings) === undefined) return;
  // It can wait for a cell for seconds, and other pages must not wait for it.
  const limit = createCallLimit(1, maxWait, { reason: 'Another person asks the cells.' });
  addPage({ path: '/cells', scope: 'admin', allAccounts: true }, async (view, { query }) => {
    const asked = {
      ...searchOf(textIn(query, 'q')),
      month: monthOf(textIn(query, 'month'), view),
    };
    const { context } = view;
    const tools = { ...context, settings, findHashKey: () => context.ledger.hashKey };
    const answers = await limit(async () =>
      askCells((await loadCells(settings)) ?? [], 'read', tools, (ofCell) =>
        readCell(ofCell, asked, view.zone),
      ),
    );
    return { title: 'Cells', body: cellsPart(answers, asked, view) };
  });
}

/** Milliseconds. */
const maxWait = 500;

type Asked = ReturnType<typeof searchOf> & { readonly month: string };

/**
 * A text that no cell can search for is no fault of a cell: then none is asked for it. A text that can be a MessageID or job
 * number has no address.
 */
function searchOf(text: string): { text: string; address?: string; problem?: string | undefined } {
  if (text === '' || canBeMessageId(text)) return { text };
  try {
    return { text, address: comparedAddressOf(text, undefined, countryHint) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { text, problem: problemText(error) };
  }
}

const countryHint = 'a search of all cells knows no country';

function monthOf(written: string, { now, zone }: View): string {
  return isMonth(written) ? written : formatLocal(now, zone).slice(0, 7);
}

const queryOf = (month: string, timeZone: string): BillingQuery => ({
  by: [],
  from: `${month}-01`,
  until: `${monthAfter(month)}-01`,
  timeZone,
  filter: {},
});

type CellFacts = Awaited<ReturnType<typeof readCell>>;

async function readCell(context: EngineContext, asked: Asked, zone: string) {
  const { text, address, problem, month } = asked;
  return {
    runs: await listRuns(context.ledger.knex, maxRuns),
    billing: await readCellBilling(context, queryOf(month, zone)),
    found: text === '' || problem ? { histories: [] } : await search(context, text),
    suppressions:
      address === undefined ? [] : await listSuppressionsOfAddress(context, address, { sources: null }),
  };
}

/** Digits that are no job number here, and no phone number, may be a job number in another cell. */
async function search(
  context: EngineContext,
  text: string,
): Promise<Pick<RecipientReport, 'histories'> & { readonly problem?: string }> {
  const found = await searchRecipient(context, text, { limit: maxFound, countryHint });
  const unreadable = found.readings.find(({ kind }) => kind === 'unreadable');
  return unreadable?.kind === 'unreadable' ? { ...found, problem: `${unreadable.why}.` } : found;
}

type Answers = CellAnswers<CellFacts>;

function cellsPart(answers: Answers, asked: Asked, view: View): Html {
  const rows = [...answers.parts, ...answers.away];
  return html`${answers.away.map(awayPart)}
${section('cells-part', 'Cells', listTable({ caption: 'Cells and their accounts', columns: cellColumns, rows, id: 'cells' }))}
${section('search-part', 'A person', searchPart(answers, asked, view))}
${section('billing-part', `Billing of ${asked.month}`, billingPart(answers, asked, view))}
${section('runs-part', 'Newest runs', runsPart(answers, view))}`;
}

function awayPart({ cell, why }: Away): Html {
  return html`<p class="banner" role="alert">${badge('warning')} Cell ${cell.name} is away, and what it knows is missing below: <bdi>${why}</bdi></p>`;
}

const cellColumns: Columns<CellPart<CellFacts> | Away> = [
  textColumn('cell', 'Cell', ({ cell }) => cell.name, {
    target: ({ cell }) => (cell.dashboard ? { kind: 'page', path: `${cell.dashboard}/` } : null),
  }),
  textColumn('accounts', 'Accounts', ({ cell }) => cell.accounts.join(', ')),
  textColumn('state', 'State', ({ kind }) => (kind === 'answered' ? 'answers' : 'away')),
];

/** The rows of a list over cells, each with its cell. Their links lead to the dashboard of the cell. */
function rowsOf<Row extends object>({ parts }: Answers, read: (facts: CellFacts) => readonly Row[]) {
  return parts.flatMap(({ cell: { name, dashboard }, value }) =>
    read(value).map((row) => ({ ...row, cell: name, dashboard })),
  );
}

type OfCell = { readonly cell: string; readonly dashboard: string | undefined };

const runTarget = ({ run, dashboard }: OfCell & { readonly run: string | null }) =>
  dashboard === undefined || run === null
    ? null
    : ({ kind: 'page', path: `${dashboard}${runPath(run)}` } as const);

function runsPart(answers: Answers, view: View): Html {
  const newest = rowsOf(answers, ({ runs }) => runs)
    .toSorted((one, other) => Number(other.createdAt) - Number(one.createdAt))
    .slice(0, maxRuns);
  const columns = withCell<RunWithOutcome & OfCell>([
    textColumn('run', 'Run', ({ run }) => run, { target: runTarget }),
    ...pickColumns(runColumns, 'campaign', 'channel', 'state', 'deliveredShare', 'createdAt', 'finishedAt'),
  ]);
  if (newest.length === 0) return html`<p class="empty">The cells that answer have no run.</p>`;
  return listTable({ caption: 'The newest runs of all cells', columns, rows: newest, id: 'runs' }, view);
}

function billingPart(answers: Answers, { text, month }: Asked, view: View): Html {
  const reports = answers.parts.map(({ value }) => value.billing);
  const totals = addUpTotals(reports.flatMap((report) => report.totals));
  const closing =
    answers.away.length === 0 ? closingOfAll(reports.map((report) => report.closing)) : undefined;
  const query = queryOf(month, view.zone);
  const sheet = billingSheet(query, { totals }, { at: view.now });
  const columns = sheet.columns.filter(({ blank }) => !blank);
  const rows = totals.map((total) => ({ ...total, values: [], correctionOf: null }));
  return html`<form method="get" action="/cells" class="filter"><input type="hidden" name="q" value="${text}">
${textField({ name: 'month', label: 'Month', value: month, hint: `Such as ${month}, in ${view.zone}` })}
<p class="field"><button>Show</button></p></form>
${totals.length === 0 ? html`<p class="empty">Nothing was sent.</p>` : listTable({ caption: 'All cells, added up', columns, rows, id: 'billing' })}
${closing && html`<p class="hint">Closed in all cells, the last time by <bdi>${closing.closedBy}</bdi>.</p>`}`;
}

function searchPart(answers: Answers, asked: Asked, view: View): Html {
  const found = answers.parts.map(({ value }) => value.found);
  const isFound = found.some(({ histories }) => histories.length > 0);
  const problem = isFound ? undefined : (asked.problem ?? found.find((each) => each.problem)?.problem);
  return html`${searchForm({ ...asked, problem })}${asked.text !== '' && !problem && foundPart(answers, view)}`;
}

function searchForm({ text, problem, month }: Asked): Html {
  return html`<search><form method="get" action="/cells" class="filter"><input type="hidden" name="month" value="${month}">
${textField({ name: 'q', label: 'Phone number with +, e-mail address, MessageID or job number', value: text, problem })}
<p class="field"><button class="main">Search all cells</button></p></form></search>`;
}

function foundPart(answers: Answers, view: View): Html {
  const found = rowsOf(answers, (facts) => facts.found.histories);
  const suppressions = rowsOf(answers, (facts) => facts.suppressions);
  const columns = withCell<(typeof found)[number]>([
    textColumn('run', 'Run', ({ run }) => run, { target: runTarget }),
    textColumn('campaign', 'Campaign', ({ campaign }) => campaign),
    textColumn('address', 'Address', ({ address }) => address),
    textColumn('state', 'State', ({ state }) => state),
  ]);
  const none = html`<p class="empty">No run of a cell that answers has sent there.</p>`;
  return html`${found.length === 0 ? none : listTable({ caption: 'What was sent', columns, rows: found, id: 'found' }, view)}
${suppressions.length > 0 && listTable({ caption: 'Suppressions', columns: withCell(pickColumns(suppressionColumns, 'channel', 'account', 'subAccount', 'source', 'createdAt')), rows: suppressions, id: 'suppressed' }, view)}`;
}
