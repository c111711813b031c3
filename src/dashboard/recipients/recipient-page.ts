import { rerunStates } from '../../domain/runs.ts';
import { reportPerson } from '../../engine/recipient-data/person-report.ts';
import { type KnownRecipient, readKnownRecipient } from '../../engine/reporting/recipient-report.ts';
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
import { badge, longText, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { messagePart } from '../../report/html/preview-message.ts';
import { recipientStateSentences } from '../../report/lists/recipients.ts';
import { runColumn } from '../../report/lists/usual.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { formatReasonsOf, type HistoryEvent, listEvents } from '../../report/recipient-history.ts';
import { formatCampaign } from '../../report/run/run-summary.ts';
import { numberIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { agePart, type Figure, figures, section } from '../parts/parts.ts';
import { recipientOfRunPath, recipientPath, runPath } from '../paths.ts';
import { suppressedPart } from '../suppressions/suppressions-page.ts';

const path = '/runs/:run/recipients/:row';

/** One recipient of a run: what came of it, the text that it got, its row, and what else was sent to its address. */
export function addRecipientPage({ addPage, addDownload, limits, campaignSource }: Tools): void {
  addPage({ path, scope: 'read' }, async (view, asked) => {
    const known = await limits.page(() => requireKnown(view, asked));
    const { run, address } = known.history;
    const suppressed =
      address === '' ? undefined : await suppressedPart(view, campaignSource.settings, address.toLowerCase());
    return {
      title: address || 'An erased recipient',
      within: { href: runPath(run), text: `${formatCampaign(known.history)} (${run})` },
      body: html`${recipientPart(view, known)}${suppressed}`,
      policy: messagePolicy,
    };
  });
  // It has entries of the audit trail, and rows of the contact files of all accounts.
  const where = { path: `${path}/download`, scope: 'admin', allAccounts: true } as const;
  addDownload(where, async (view, asked, format) => {
    const { address } = (await requireKnown(view, asked)).history;
    if (format !== 'json' || address === '') return undefined;
    return {
      limit: limits.report,
      send: async (reply) => {
        const report = await reportPerson(view.context, address.toLowerCase());
        await reply
          .header('content-disposition', 'attachment; filename="recipient.json"')
          .type('application/json')
          .send(JSON.stringify(report));
      },
    };
  });
}

/** @throws ProblemError for a run of another account, and for a row to which the run did not send */
async function requireKnown(view: View, asked: Asked): Promise<KnownRecipient> {
  const { run } = await requireVisibleRun(view, asked);
  const row = numberIn(asked.params, 'row');
  const known = await readKnownRecipient(view.context, { run, row }, view.session.accounts);
  return known ?? notFound('The run has no recipient of this row. Its page lists what was left out.');
}

function recipientPart(view: View, { history, message, listRow, others, asOf }: KnownRecipient): Html {
  return html`${agePart(asOf)}
${actionLinks(view, history)}
${historyPart(history, view)}
${section('message', 'The message for this recipient', message ? html`<div class="planned">${messagePart(message)}</div>` : html`<p class="empty">It is erased.</p>`)}
${section('row', 'Its row in the contact file', listRow ? valuesPart(listRow.values) : html`<p class="empty">It is not kept, or its file takes too long to be read here: <a href="${runPath(history.run)}#downloads">the downloads of the run</a> may have it.</p>`)}
${section(
  'others',
  'What else was sent to this address',
  others.length === 0
    ? html`<p class="empty">Nothing that the ledger still has.</p>`
    : recipientsTable('Other messages, the newest run first', others.map(asRow), view),
)}`;
}

function actionLinks(view: View, history: KnownRecipient['history']): Html {
  const { run, row, state, kind, purgedAt, address } = history;
  const isRerunnable = rerunStates.some((each) => each === state);
  const mayRerun = view.mayRun && isRerunnable && kind !== 'test' && purgedAt === null && address !== '';
  const mayExport = view.mayAdmin && view.session.accounts === null && address !== '';
  return html`<p class="links">
${mayRerun && html`<a class="button" href="${runPath(run, 'rerun', { only: state, recipient: String(row) })}">Send again to this one</a>`}
${mayExport && html`<a href="${recipientOfRunPath(run, row, 'download')}?format=json">Everything known of this address, as JSON</a>`}
</p>`;
}

function valuesPart(values: Readonly<Record<string, string>>): Html {
  const items = Object.entries(values).map(
    ([column, value]) => html`<div><dt dir="auto">${column}</dt><dd dir="auto">${value}</dd></div>`,
  );
  return html`<dl class="details">${items}</dl>`;
}

export function historyPart(history: RecipientHistory, viewer: Viewer): Html {
  const formatted = formatReasonsOf(history);
  const { run, kind, state, reason, purgedAt } = formatted;
  const events = listEvents(formatted);
  return html`<div class="history">
<p>${badge(state)}${kind === 'test' && html` ${badge('test')}`} ${recipientStateSentences[state]}</p>
${reason !== null && reason !== state && longText(reason)}
${purgedAt !== null && html`<p class="note">The run was purged at ${time(purgedAt, viewer.zone)}: ${erasedWords.recipient}.</p>`}
${figures(figuresOf(history))}
${events.length === 0 ? html`<p>Nothing was sent to it.</p>` : listTable({ caption: `Run ${run}, line ${formatted.line}`, columns: eventColumns, rows: events }, viewer)}
</div>
`;
}

function figuresOf(history: RecipientHistory): Figure[] {
  const { address, originalAddress, file, line } = history;
  const payers = [
    { name: 'SubAccount', value: history.subAccount },
    { name: 'Department', value: history.department },
    { name: 'ChargeCode', value: history.chargeCode },
  ].flatMap(({ name, value }) => (value === null ? [] : [{ name, value: html`<bdi>${value}</bdi>` }]));
  return [
    {
      name: 'Address',
      value: address === '' ? 'erased' : html`<a href="${recipientPath(address)}"><bdi>${address}</bdi></a>`,
      note: originalAddress !== address && html`in the contact file: <q dir="auto">${originalAddress}</q>`,
    },
    { name: 'Channel', value: history.channel, note: html`account <bdi>${history.account}</bdi>` },
    { name: 'Contact', value: `line ${line}`, note: file !== '' && html`of <bdi>${file}</bdi>` },
    ...payers,
    {
      name: 'Request',
      value: history.request,
      note: html`MessageID <a href="${recipientPath(history.messageId)}">${history.messageId}</a>`,
    },
    {
      name: 'Cost',
      value: history.price ?? 'not reported',
      note: history.units !== null && `${history.units} unit${history.units === '1' ? '' : 's'}`,
    },
  ];
}

const eventColumns: Columns<HistoryEvent> = [
  timeColumn('at', 'At'),
  wordsColumn('what', 'What', ({ words }) => words),
];

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
