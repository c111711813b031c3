import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import {
  createLookUpJobs,
  type LookUpJob,
  type LookUpJobs,
  requireLookUpOfRun,
} from '../../engine/runs/ask-about-doubts.ts';
import { requireUnpurgedRun } from '../../engine/runs/find-run.ts';
import { listNamedDoubts, resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { type FailureGroup, listFailureGroups } from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { type Doubt, listDoubts } from '../../ledger/requests/list-failed.ts';
import { digestOf } from '../../platform/digest.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns, wordsColumn } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { doubtColumns } from '../../report/lists/failures.ts';
import { recipientsColumn, wordsOf } from '../../report/lists/usual.ts';
import { formatLookUp, formatResolved, resolutionWords } from '../../report/look-up-words.ts';
import { type Fields, numberIn, textIn, textsIn, wordIn } from '../base/fields.ts';
import { orInputError, problemText, refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { listTable, pagedList } from '../parts/list.ts';
import { askedPart } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

const doubtsPerPage = 100;

/** Groups to choose from. A group of a few requests can be chosen from the list. */
const maxGroups = 20;

export function addDoubtsPages(tools: Tools): void {
  const { settings } = tools.campaignSource;
  const jobs = createLookUpJobs(settings);
  tools.server.addHook('onClose', () => jobs.close());
  tools.addLivePage({
    path: '/runs/:run/doubts',
    scope: 'read',
    // How far the service was asked is in memory, so a look costs nothing.
    open: async (view, asked) => {
      const { run } = await requireVisibleRun(view, asked);
      return { key: `look-up ${run}`, read: async () => ({ run, job: jobs.of(run) }) };
    },
    render: ({ run, job }, viewer) => html`${job && lookUpPart(run, job, viewer)}`,
    around: async (_, view, asked) => {
      const { run, campaign } = await requireVisibleRun(view, asked);
      const refused = await orInputError(requireLookUpOfRun(view.context, settings, run));
      const wanted = { run, after: numberIn(asked.query, 'after'), noLookUp: problemText(refused) };
      return {
        title: 'Requests in doubt',
        within: { href: runPath(run), text: campaign },
        end: await doubtsPart(wanted, view),
      };
    },
  });
  addResolveAction(tools, jobs);
}

function lookUpPart(run: string, job: LookUpJob, viewer: Viewer): Html {
  const { found, notFound, unclear, state } = job;
  const soFar = `${count(found + notFound + unclear, 'request')} so far, ${count(found, 'request')} found`;
  return html`${askedPart(job, { id: 'look-up', soFar, found: formatLookUp(job) }, viewer)}${state !== 'asking' && html` <a href="${runPath(run, 'doubts')}">List what is still in doubt</a>`}`;
}

type WantedDoubts = { readonly run: string; readonly after: number; readonly noLookUp: string | undefined };

/**
 * Requests in doubt, to choose some or all. The form leads to a page that says how many people the decision concerns,
 * and asks for the reason. `noLookUp`: why the service cannot be asked.
 */
async function doubtsPart({ run, after, noLookUp }: WantedDoubts, view: View): Promise<Html> {
  const { pool, monitoring } = view.context.ledger;
  const total = (await readRunCounts(monitoring, [run])).get(run)?.requests.in_doubt ?? 0;
  const page = { after, pageSize: doubtsPerPage + 1 };
  const { value: doubts = [] } = await listDoubts(pool, run, 'all', page).next();
  const groups = await listFailureGroups(pool, run, { states: ['in_doubt'], limit: maxGroups });
  if (doubts.length === 0) return html`<p>No request of run <code>${run}</code> is in doubt.</p>`;
  const choice = ({ request }: Doubt): Html =>
    html`<label class="choose"><input type="checkbox" name="request" value="${request}"> ${request}</label>`;
  const request = view.mayAdmin ? ({ key: 'request', title: 'Choose', cell: choice } as const) : 'request';
  return html`<p>Each of these requests was sent, but no answer proves whether the service has it. A delivery report still settles it.</p>
<form method="get" action="${runPath(run, 'doubts/resolve')}">
${view.mayAdmin && decisionFields(total, noLookUp)}
${view.mayAdmin && groups.length > 1 && groupTable(groups, view)}
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
  view,
)}
</form>`;
}

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

const decisions = {
  ask: {
    name: 'Ask the service',
    what: 'Volley asks for the status of each request, at most one a second. What the service has is accepted; the others stay in doubt.',
  },
  ...resolutionWords,
} as const;
const decisionNames = [
  'ask',
  'accepted',
  'resend',
  'abandon',
] as const satisfies readonly (keyof typeof decisions)[];

/** The confirmation of a decision about doubts, and the decision. The chosen requests are in the address. */
function addResolveAction({ addAction }: Tools, jobs: LookUpJobs): void {
  addAction({
    path: '/runs/:run/doubts/resolve',
    scope: 'admin',
    needsReason: ({ query }) => textIn(query, 'decision') !== 'ask',
    ask: async (view, asked) => {
      const { run, campaign } = await requireVisibleRun(view, asked);
      const within = { href: runPath(run, 'doubts'), text: `Doubts of ${campaign}` };
      const find = async () => findChosen(view.context, readChoice(run, asked.query));
      const found = await orInputError(find());
      if (found instanceof InputError) {
        const title = 'Resolve doubts: not possible now';
        return { title, body: html`<p>${problemText(found)}</p>`, within };
      }
      const { name, what } = decisions[found.decision];
      return {
        title: `Resolve doubts of ${campaign}`,
        button: name,
        within,
        body: html`<p>${name}: <strong>${count(found.requests, 'request')} with ${count(found.recipients, 'recipient')}</strong> of run <code>${run}</code>.</p>
<p>${what}</p><input type="hidden" name="confirmed" value="${found.requests}"><input type="hidden" name="seen" value="${found.seen}">`,
      };
    },
    act: async (view, asked, { confirmed = '', seen = '', reason = '' }) => {
      const { run } = await requireVisibleRun(view, asked);
      const choice = readChoice(run, asked.query);
      const given = { confirmed: Number(confirmed), seen, reason };
      const notice = await resolveChosen(view.context, jobs, choice, given);
      // What is to be sent again waits for a resume, which the page of the run offers.
      return { to: runPath(run, choice.decision === 'resend' ? '' : 'doubts'), notice };
    },
  });
}

type Choice = Omit<ReturnType<typeof readChoice>, 'group'> & { readonly group?: string | undefined };

/**
 * What the person chose: requests with the same answer (`FailureGroup.group`), numbers of requests, or all in doubt.
 *
 * @throws InputError about what is missing
 */
export function readChoice(run: string, query: Fields) {
  const decision = wordIn(query, 'decision', decisionNames) ?? refuse(`run ${run}`, 'Choose what to do.');
  const group = textIn(query, 'group') || undefined;
  const isAll = group !== undefined || textIn(query, 'which') === 'all';
  const requests = isAll ? undefined : textsIn(query, 'request');
  if (requests?.length === 0) refuse(`run ${run}`, 'Choose at least one request, or go on with all of them.');
  return { run, decision, requests, group };
}

/**
 * The requests that a decision concerns, and how many people. `seen` differs for other requests.
 *
 * @throws InputError if a chosen request, or all of the run, are not in doubt any more, or a purged run is to be sent again
 */
export async function findChosen(context: EngineContext, { run, decision, requests, group }: Choice) {
  if (decision === 'resend') await requireUnpurgedRun(context, run);
  const numbers: string[] = [];
  let recipients = 0;
  for await (const doubts of await listNamedDoubts(context, { run, named: requests, group })) {
    for (const doubt of doubts) {
      numbers.push(String(doubt.request));
      recipients += doubt.recipients;
    }
  }
  if (numbers.length === 0) refuse(`run ${run}`, 'No request is in doubt any more.');
  const seen = digestOf(numbers.join()).toString('hex');
  return { decision, requests: numbers.length, recipients, numbers, seen };
}

/**
 * Carries out what the person confirmed, about so many requests, which `findChosen` has named `seen`. Says what was done.
 *
 * @throws InputError if other requests are in doubt now, or as `resolveDoubts` and `LookUpJobs.start`
 */
export async function resolveChosen(
  context: EngineContext,
  jobs: LookUpJobs,
  choice: Choice,
  given: { readonly confirmed: number; readonly seen?: string; readonly reason: string },
): Promise<string> {
  const { run, decision } = choice;
  const { confirmed, seen, reason } = given;
  const { requests, numbers, ...found } = await findChosen(context, choice);
  if (requests !== confirmed) {
    const now = `${count(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in doubt now, not ${confirmed}.`;
    refuse(`run ${run}`, `${now} Look again before you decide.`);
  }
  if (seen !== undefined && seen !== found.seen)
    refuse(`run ${run}`, 'Other requests are in doubt now. Look again before you decide.');
  const named = { run, named: numbers };
  if (decision === 'ask') {
    await jobs.start(context, named);
    return `The service is being asked about ${count(requests, 'request')}, one a second.`;
  }
  const how = { resolution: decision, by: context.actor.name, reason } as const;
  const resolved = await resolveDoubts(context, named, how);
  const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
  if (decision === 'resend')
    return `${count(resolved.length, 'request')} with ${count(recipients, 'recipient')}: to be sent again. When the run is paused, resume it to send them.`;
  return formatResolved({ run, resolution: decision, requests: resolved.length, recipients });
}
