import type { FastifyInstance } from 'fastify';
import { createLookUpJobs, type LookUpJob, requireLookUpOfRun } from '../../engine/runs/ask-about-doubts.ts';
import { type FailureGroup, listFailureGroups } from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { type Doubt, listDoubts } from '../../ledger/requests/list-failed.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns, wordsColumn } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { doubtColumns } from '../../report/lists/failures.ts';
import { recipientsColumn, wordsOf } from '../../report/lists/usual.ts';
import { formatLookUp } from '../../report/look-up-words.ts';
import { numberIn } from '../base/fields.ts';
import { orInputError, problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { listTable, pagedList } from '../parts/list.ts';
import { askedPart } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { addResolveAction, decisionNames, decisions } from './resolve-doubts.ts';

const doubtsPerPage = 100;

/** Groups to choose from. A group of a few requests can be chosen from the list. */
const maxGroups = 20;

/** Requests in doubt of a run, and what an operator can decide about them. */
export function addDoubtsPages(server: FastifyInstance, { live, campaignSource: { settings } }: Tools): void {
  const jobs = createLookUpJobs(settings);
  server.addHook('onClose', () => jobs.close());
  live.addPage(server, {
    path: '/runs/:run/doubts',
    scope: 'read',
    // How far the service was asked is in memory, so a look costs nothing.
    open: async (view, asked) => {
      const { run } = await requireVisibleRun(view, asked);
      return { key: `look-up ${run}`, read: async () => ({ run, job: jobs.of(run) }) };
    },
    render: lookUpPart,
    around: async (_, view, asked) => {
      const { run, campaign } = await requireVisibleRun(view, asked);
      const refused = await orInputError(requireLookUpOfRun(view.context, settings, run));
      const list = await readDoubts(view, run, numberIn(asked.query, 'after'));
      return {
        title: 'Requests in doubt',
        within: { href: runPath(run), text: campaign },
        end: doubtsPart({ ...list, noLookUp: problemText(refused) }, view),
      };
    },
  });
  addResolveAction(server, jobs);
}

type LookUp = { readonly run: string; readonly job: LookUpJob | undefined };

function lookUpPart({ run, job }: LookUp, viewer: Viewer): Html {
  if (!job) return html``;
  const { found, notFound, unclear, state } = job;
  const soFar = `${count(found + notFound + unclear, 'request')} so far, ${count(found, 'request')} found`;
  const list = html` <a href="${runPath(run, 'doubts')}">List what is still in doubt</a>`;
  return html`${askedPart(job, { id: 'look-up', soFar, found: formatLookUp(job) }, viewer)}${state !== 'asking' && list}`;
}

type DoubtList = Awaited<ReturnType<typeof readDoubts>>;

/** All requests in doubt are counted. `doubts` has one more than a page, if there is another page. */
async function readDoubts({ context }: View, run: string, after: number) {
  const { pool, monitoring } = context.ledger;
  const counts = (await readRunCounts(monitoring, [run])).get(run);
  const first = await listDoubts(pool, run, 'all', { after, pageSize: doubtsPerPage + 1 }).next();
  const groups = await listFailureGroups(pool, run, { states: ['in_doubt'], limit: maxGroups });
  return { run, total: counts?.requests.in_doubt ?? 0, groups, doubts: first.value ?? [] };
}

/**
 * Requests in doubt, to choose some or all. The form leads to a page that says how many people the decision concerns,
 * and asks for the reason.
 *
 * @param noLookUp why the service cannot be asked; undefined if it can
 */
function doubtsPart(
  { run, total, groups, doubts, noLookUp }: DoubtList & { readonly noLookUp: string | undefined },
  viewer: Viewer,
): Html {
  if (doubts.length === 0) return html`<p>No request of run <code>${run}</code> is in doubt.</p>`;
  const request = viewer.mayAdmin
    ? ({ key: 'request', title: 'Choose', cell: choiceCell } as const)
    : 'request';
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
    wordsColumn('answer', 'Answer', ({ reason }) => wordsOf(reason)),
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
${decisionNames.map((decision) => {
  const { name, what } = decisions[decision];
  const refused = decision === 'ask' ? noLookUp : undefined;
  return html`<p><label><input type="radio" name="decision" value="${decision}" required${refused !== undefined && html` disabled`} aria-describedby="about-${decision}"> ${name}</label>
<span id="about-${decision}">${refused ?? what}</span></p>
`;
})}
</fieldset>
<p class="buttons"><button name="which" value="chosen">Go on with the chosen requests</button> <button name="which" value="all">Go on with ${total === 1 ? 'the only request' : `all ${count(total, 'request')}`}</button></p>`;
}
