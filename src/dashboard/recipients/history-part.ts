import type { RecipientHistory } from '../../ledger/recipients/history.ts';
import { type Columns, timeColumn, wordsColumn } from '../../report/column.ts';
import { badge, longText, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { recipientStateSentences } from '../../report/lists/recipients.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { formatReasonsOf, type HistoryEvent, listEvents } from '../../report/recipient-history.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { type Figure, figures } from '../parts/parts.ts';
import { recipientPath } from '../paths.ts';

/** What came of one recipient, from the row of its contact file to its price. */
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
