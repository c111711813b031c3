import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { FailureGroup } from '../../ledger/counts/groups.ts';
import type { Doubt } from '../../ledger/requests/list-doubts.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns, wordsColumn } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { doubtColumns } from '../../report/lists/doubts.ts';
import { recipientsColumn } from '../../report/lists/run-results.ts';
import type { Viewer } from '../base/view.ts';
import { listTable, pagedList } from '../parts/list.ts';
import { runPath } from '../paths.ts';

export const doubtsPerPage = 100;

/** Groups to choose from. A group of a few requests can be chosen from the list. */
export const maxGroups = 20;

/** What an operator can do about a request in doubt. */
export const decisions = [
  {
    decision: 'ask',
    name: 'Ask the service',
    what: 'Volley asks for the status of each request, at most one a second. What the service has is accepted; the others stay in doubt.',
  },
  {
    decision: 'accepted',
    name: 'Count as accepted',
    what: 'You know that the service has them. They count as accepted and are never sent again.',
  },
  {
    decision: 'resend',
    name: 'Send again',
    what: 'Volley sends them again with the same MessageID; resume a completed run for that. If the service has them already, people can get the message twice.',
  },
  {
    decision: 'abandon',
    name: 'Give up',
    what: 'They are not sent again. It stays unknown whether people got the message.',
  },
] as const;
export type Decision = (typeof decisions)[number]['decision'];

type DoubtList = {
  readonly run: string;
  /** All requests in doubt of the run. */
  readonly total: number;
  /** Of the same answer, the largest first. */
  readonly groups: readonly FailureGroup[];
  /** One more than a page has: then there is another page. */
  readonly doubts: readonly Doubt[];
  /** Why the service cannot be asked; undefined if it can. */
  readonly noLookUp: string | undefined;
};

/**
 * Requests in doubt, to choose some or all. The form leads to a page that says how many people the decision concerns,
 * and asks for the reason.
 */
export function doubtsPart({ run, total, groups, doubts, noLookUp }: DoubtList, viewer: Viewer): Html {
  if (doubts.length === 0) return html`<p>No request of run <code>${run}</code> is in doubt.</p>`;
  const request = viewer.mayAdmin ? { key: 'request', title: 'Choose', cell: choiceCell } : 'request';
  return html`<p>Each of these requests was sent, but no answer proves whether the service has it. A delivery report still settles it.</p>
<form method="get" action="${runPath(run, 'doubts/resolve')}">
${viewer.mayAdmin && decisionFields(total, noLookUp)}
${viewer.mayAdmin && groups.length > 1 && groupTable(groups, viewer)}
${pagedList<Doubt>(
  {
    caption: `${count(total, 'request')} in doubt`,
    columns: pickColumns(doubtColumns, request, 'reason', 'recipients', 'attempts', 'since', 'messageId'),
    found: doubts,
    perPage: doubtsPerPage,
    none: html``,
    next: (last) => ({
      href: runPath(run, 'doubts', { after: String(last.request) }),
      text: 'More requests in doubt',
    }),
  },
  viewer,
)}
</form>`;
}

function choiceCell({ request }: Doubt): Html {
  return html`<label class="choose"><input type="checkbox" name="request" value="${request}"> ${request}</label>`;
}

/** Each button leads on with all requests of its answer. */
function groupTable(groups: readonly FailureGroup[], viewer: Viewer): Html {
  const columns: Columns<FailureGroup> = [
    wordsColumn('answer', 'Answer', ({ reason }) => formatReasonOrNull(reason) ?? 'no words'),
    recipientsColumn,
    cellColumn(
      'Decide',
      ({ group, requests }) =>
        group !== '' &&
        html`<button name="group" value="${group}">Go on with ${requests === 1 ? 'this' : 'these'} ${count(requests, 'request')}</button>`,
    ),
  ];
  return listTable({ caption: 'By answer', columns, rows: groups }, viewer);
}

function decisionFields(total: number, noLookUp: string | undefined): Html {
  return html`<fieldset class="decisions">
<legend>What to do</legend>
${decisions.map(({ decision, name, what }) => {
  const refused = decision === 'ask' ? noLookUp : undefined;
  return html`<p><label><input type="radio" name="decision" value="${decision}" required${refused !== undefined && html` disabled`} aria-describedby="about-${decision}"> ${name}</label>
<span id="about-${decision}">${refused ?? what}</span></p>
`;
})}
</fieldset>
<p class="buttons"><button name="which" value="chosen">Go on with the chosen requests</button> <button name="which" value="all">Go on with ${total === 1 ? 'the only request' : `all ${count(total, 'request')}`}</button></p>`;
}
