import { rejectionReasons } from '../../domain/contacts.ts';
import { formatReason } from '../../domain/reasons.ts';
import { hasEnded, recipientStates, rerunStates } from '../../domain/runs.ts';
import { listDeliveryResults, listFailureGroups, listRejections } from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { type ListedRecipient, listRecipients } from '../../ledger/runs/list-recipients.ts';
import { listRejectedContacts } from '../../ledger/runs/rejected-contacts.ts';
import { readTogether } from '../../ledger/session.ts';
import { hasVariants } from '../../ledger/watch/variant-results.ts';
import { type Column, cellText } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { recipientColumns } from '../../report/lists/recipients.ts';
import { leftOutTitle, rejectedColumns } from '../../report/lists/rejected.ts';
import { countLeftOut, countOutcomes } from '../../report/run/run-outcome.ts';
import { type Fields, numberIn, textIn } from '../base/fields.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun, type View } from '../base/view.ts';
import { cursorText, downloadLinks, pagedList, parseCursor } from '../parts/list.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';
import { listCauses, outcomeFigures, readAskedContacts } from './outcome-part.ts';
import { causeTable } from './result-parts.ts';

const rowsPerPage = 100;

/** A list of up to so many is sorted as a whole, on one page. An index has the order of the requests only. */
const maxSorted = 500;

export function addRecipientsPage({ addPage, limits }: Tools): void {
  addPage({ path: '/runs/:run/recipients', scope: 'read' }, async (view, { params, query }) => {
    const run = await requireVisibleRun(view, { params, query });
    const list = await readShown(view, run, query);
    const { asked, leftOut, outcomes, causes, words } = list;
    const rows = await limits.page(() => (leftOut ? leftOutRows(list, view) : recipientRows(list, view)));
    return {
      title: leftOut ? leftOutTitle : 'Recipients',
      within: { href: runPath(run.run), text: `${run.campaign} (${run.run})` },
      body: html`${outcomeFigures(run.run, outcomes, asked.state)}
${whichPart(list)}
${linksPart(list, view)}
${words === undefined && asked.state && causes.length > 0 && causeTable(run.run, causes, view)}
${rows}
${downloadsPart(list)}`,
    };
  });
}

type Shown = Awaited<ReturnType<typeof readShown>>;

/** What is asked for, and what is counted of it: `total` is what the figure says. */
async function readShown({ context }: View, run: Run, query: Fields) {
  const { states, ...asked } = readAskedContacts(query);
  const { counts, ...groups } = await readTogether(context.ledger.monitoring, (client) => ({
    counts: readRunCounts(client, [run.run]),
    failures: listFailureGroups(client, run.run),
    results: listDeliveryResults(client, run.run),
    rejections: listRejections(client, run.run),
  }));
  const recipients = counts.get(run.run)?.recipients;
  if (!recipients) throw new Error(`run ${run.run} has no counts`);
  const leftOutCounts = countLeftOut(groups.rejections);
  const ofStates = { ...recipients, ...leftOutCounts };
  const causes = listCauses(groups).filter(({ state }) => states.includes(state));
  const known = causes.filter(({ cause }) => cause === asked.cause);
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
  return {
    run,
    query,
    asked,
    outcomes: countOutcomes(recipients, leftOutCounts),
    causes,
    words: asked.cause === undefined ? undefined : (known[0]?.words ?? asked.cause),
    total: sum(
      asked.cause === undefined
        ? states.map((state) => ofStates[state])
        : known.map(({ contacts }) => contacts),
    ),
    recipients: recipientStates.filter((state) => states.includes(state)),
    reasons: rejectionReasons.filter((reason) => states.includes(reason)),
    leftOut: states.every((state) => state in leftOutCounts),
  };
}

function whichPart({ run, asked: { state }, leftOut, total, words }: Shown): Html {
  const all = html`. <a href="${runPath(run.run, 'recipients', { state })}">All ${state}</a>`;
  return html`<p><strong>${groupThousands(total)} ${leftOut ? 'contacts' : 'recipients'}</strong>${state && html`: ${state}`}${words !== undefined && html`, <q dir="auto">${words}</q>${all}`}</p>`;
}

function linksPart({ run, asked, recipients, leftOut, total }: Shown, { mayRun }: View): Html | undefined {
  if (!mayRun || total === 0 || leftOut || run.purgedAt !== null) return undefined;
  const { state, cause } = asked;
  const again = rerunStates.filter((each) => recipients.includes(each));
  const links = [
    hasEnded(run.state) &&
      again.length === recipients.length && {
        href: runPath(run.run, 'rerun', { only: again[0] }),
        text: `Send again to all ${state}`,
      },
    state === 'undelivered' &&
      cause !== undefined &&
      run.kind !== 'test' && {
        href: runPath(run.run, 'recipients/suppress', { cause }),
        text: 'Suppress them',
      },
    state === 'accepted' && {
      href: deliveryReportsPath(`missing/${run.run}/ask`),
      text: 'Ask the service about them',
    },
  ].filter((link) => link !== false);
  if (links.length === 0) return undefined;
  return html`<ul class="links">${links.map(({ href, text }) => html`<li><a class="button" href="${href}">${text}</a></li>`)}</ul>`;
}

async function recipientRows(list: Shown, view: View): Promise<Html> {
  const { run, query, asked, recipients, total } = list;
  const columns = recipientColumns(run.run, await hasVariants(view.context.ledger.pool, run.run));
  const sortable = total > 1 && total <= maxSorted ? columns.filter(({ kind }) => kind !== 'integer') : [];
  const order = sortable.find(({ key }) => key === textIn(query, 'order'));
  const wanted = { run: run.run, states: recipients, group: asked.cause };
  const page = order
    ? { limit: maxSorted }
    : { after: parseCursor(textIn(query, 'after')), limit: rowsPerPage + 1 };
  const rows = await listRecipients(view.context.ledger.pool, wanted, page);
  const orders = sortable.map(({ key, title }) => {
    const href = runPath(run.run, 'recipients', { ...asked, order: key });
    return html`<li><a href="${href}"${key === order?.key && html` aria-current="true"`}>${title}</a></li>`;
  });
  const table = {
    caption: 'Recipients',
    columns,
    found: order ? sortedBy(order, rows) : rows,
    perPage: order ? maxSorted : rowsPerPage,
    none: nonePart(list, view),
    next: (last: ListedRecipient) => ({
      href: runPath(run.run, 'recipients', { ...asked, after: cursorText(last) }),
      text: 'More recipients',
    }),
  };
  return html`${orders.length > 0 && html`<nav aria-label="Order"><ul class="links"><li>Sort by</li>${orders}</ul></nav>`}
${pagedList(table, view)}`;
}

function sortedBy({ value }: Column<ListedRecipient>, rows: readonly ListedRecipient[]): ListedRecipient[] {
  const textOf = (row: ListedRecipient): string => cellText(value(row));
  return rows.toSorted((one, other) =>
    textOf(one) === textOf(other) ? 0 : textOf(one) < textOf(other) ? -1 : 1,
  );
}

async function leftOutRows(list: Shown, view: View): Promise<Html> {
  const { run, query, asked, reasons } = list;
  const page = { limit: rowsPerPage + 1, after: numberIn(query, 'after'), reasons, column: asked.cause };
  const rows = await listRejectedContacts(view.context.ledger.pool, run.run, page);
  const found = rows.map(({ detail, ...contact }) => ({ ...contact, detail: formatReason(detail) }));
  const table = {
    caption: 'Contacts',
    columns: rejectedColumns(found),
    found,
    perPage: rowsPerPage,
    none: nonePart(list, view),
    next: ({ row }: { readonly row: number }) => ({
      href: runPath(run.run, 'recipients', { ...asked, after: String(row) }),
      text: 'More contacts',
    }),
  };
  return pagedList(table, view);
}

function nonePart({ run, total }: Shown, { zone }: View): Html {
  const at = total > 0 ? run.recordsDeletedAt : null;
  return html`<p class="empty">${at ? html`The records of single recipients were deleted at ${time(at, zone)} (${zone}). Only counts are left.` : 'There are none.'}</p>`;
}

/** All of the list as a file, and their rows of the contact files, which can be sent to again. */
function downloadsPart({ run, asked, leftOut, total, words }: Shown): Html {
  const hasFiles = total > 0 && run.kind !== 'test' && run.purgedAt === null && words === undefined;
  const rows = runPath(run.run, 'download/contacts', { state: asked.state, format: 'csv' });
  return html`${!leftOut && total > 0 && downloadLinks((format) => runPath(run.run, 'download/recipients', { ...asked, format }))}
${hasFiles && html`<p><a href="${rows}">Their rows of the contact files, with what came of each, as CSV</a></p>`}`;
}
