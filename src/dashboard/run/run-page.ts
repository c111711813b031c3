import type { FastifyReply } from 'fastify';
import { type RequestState, recipientStates, requestStates } from '../../domain/runs.ts';
import { needsPerson } from '../../domain/waits.ts';
import { createLiveRuns, type LiveRun } from '../../engine/live/live-runs.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { streamRecipients } from '../../ledger/runs/list-recipients.ts';
import { hasVariants } from '../../ledger/watch/variant-results.ts';
import { asSentence } from '../../platform/sentence.ts';
import { type Columns, decimalColumn, integerColumn, stateColumn } from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { notAcceptedTitle } from '../../report/lists/failures.ts';
import { recipientSheet } from '../../report/lists/recipients.ts';
import { variantResultColumns } from '../../report/lists/variants.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { type ReportedState, reportedStates } from '../../report/run/contact-sheet.ts';
import { runStateWords } from '../../report/run/run-outcome.ts';
import { settlingText, waitWords } from '../../report/wait-words.ts';
import { noSuchRun } from '../../server/api/call.ts';
import { type RunReport, runFormats, sendRunReport, sendSheet } from '../../server/api/send-report.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, requireVisibleRun, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart, withCode } from '../parts/next-step.ts';
import { folded, section, unappliedBanner } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { runLinks } from '../runs/waiting-part.ts';
import { addDoubtsPages } from './doubts-page.ts';
import { outcomePart, readAskedContacts } from './outcome-part.ts';
import { addRecipientsPage } from './recipients-page.ts';
import {
  answersPart,
  chartPart,
  costsPart,
  decisionsPart,
  eventsPart,
  failuresPart,
} from './result-parts.ts';
import { addSuppressUndelivered } from './suppress-action.ts';

export function addRunPages(tools: Tools): void {
  const readLive = createLiveRuns(tools.context, tools.campaignSource.settings);
  const read = async (run: string): Promise<LiveRun> =>
    (await readLive(run)) ?? notFound(`${noSuchRun} any more.`);
  tools.addLivePage({
    path: '/runs/:run',
    scope: 'read',
    open: async (view, asked) => {
      const { run } = await requireVisibleRun(view, asked);
      return { key: `run ${run}`, read: () => read(run) };
    },
    render: livePart,
    around: ({ head }, view) => ({
      title: `${head.campaign} (${head.run})`,
      within: { href: '/', text: 'Runs' },
      body: aboutPart(head, view),
      end: downloadsPart(head),
    }),
  });
  addRecipientsPage(tools);
  addSuppressUndelivered(tools);
  addDoubtsPages(tools);
  addRunDownloads(tools);
}

/** What does not change while the run is sent: whose it is, and where to read more. The heading has its name. */
function aboutPart(head: ListedRun, { zone }: Viewer): Html {
  return html`<dl class="details in-a-line">
<div><dt>Account</dt><dd dir="auto">${head.account}</dd></div>
<div><dt>Channel</dt><dd>${head.channel}</dd></div>
<div><dt>Planned</dt><dd>${time(head.createdAt, zone)} ${zone}</dd></div>
<div><dt>More</dt><dd>${head.purgedAt === null && html`<a href="${runPath(head.run, 'plan')}">Plan and messages</a>, `}<a href="#downloads">downloads</a></dd></div>
</dl>`;
}

/** Everything of the page that changes while the run is sent. Links lead to actions; nothing in it is a form. */
export function livePart(live: LiveRun, viewer: Viewer): Html {
  return html`${statePart(live)}
${unappliedBanner(live.unapplied, viewer)}
${outcomePart(live)}
${live.variants.length > 0 && section('variants', 'Variants', listTable({ caption: 'What came of each', columns: variantResultColumns, rows: live.variants }, viewer))}
${decisionPart(live, viewer)}
${decisionsPart(live, viewer)}
${failuresPart(live, viewer)}
${chartPart(live, viewer)}
${answersPart(live, viewer)}
${live.progress.total > 0 && countsPart(live)}
${costsPart(live, viewer)}
${eventsPart(live, viewer)}`;
}

/** The state. It is announced when it changes, so it has no figures that change all the time. */
function statePart({ head, progress }: LiveRun): Html {
  const settling = progress.state === 'running' && progress.phase === 'settling doubts';
  const state = runStateWords(head.state, progress.counts.recipients.unknown);
  return html`<p class="state" id="state" role="status" aria-label="State of the run">${badge(state)}${head.kind === 'test' && html` ${badge('test')}`}
${settling && ` ${settlingText}`}
${head.purgedAt && ` ${asSentence(erasedWords.run)}`}</p>`;
}

function decisionPart(live: LiveRun, viewer: Viewer): Html | false {
  const { waits } = live;
  const links = runLinks(live, viewer);
  const actions =
    links.length > 0 &&
    html`<nav class="actions" id="actions" aria-label="Actions"><ul>${links.map(({ href, text }) => html`<li><a class="button" href="${href}">${text}</a></li>`)}</ul></nav>`;
  if (waits.length === 0) return actions;
  const items = waits.map((wait) => {
    const { what, next } = waitWords(wait, viewer.zone);
    return html`<li><strong dir="auto">${withCode(what)}</strong> ${nextStepPart(next, viewer)}</li>`;
  });
  const title = waits.some(needsPerson) ? 'What needs a decision' : 'What it waits for';
  return section('decision', title, html`<div role="status"><ul class="waits">${items}</ul></div>${actions}`);
}

type StateRow = { readonly state: RequestState; readonly count: number };

export function countsPart({ progress }: LiveRun): Html {
  const { requests } = progress.counts;
  const columns: Columns<StateRow> = [
    stateColumn('state', 'State'),
    integerColumn('count', 'Requests'),
    decimalColumn('share', 'Share', ({ count }) => share(count, requests.total)),
  ];
  const rows = requestStates.map((state) => ({ state, count: requests[state] }));
  const caption = `Requests by state: ${groupThousands(requests.total)}`;
  const list = { caption, columns, rows: rows.filter(({ count }) => count > 0) };
  return folded('counts', 'Requests by state', listTable(list));
}

/** The reports about one run that its page offers. Their addresses take other formats too. */
export const downloads = [
  { report: 'run', name: 'The run in full, as a workbook', format: 'xlsx' },
  { report: 'contacts', name: 'The contact files, each row with its result, as CSV', format: 'csv' },
  { report: 'failures', name: `${notAcceptedTitle}, as CSV`, format: 'csv' },
] as const;

function downloadsPart({ run, kind, purgedAt }: ListedRun): Html {
  const offered = downloads.filter(
    ({ report }) => report !== 'contacts' || (kind !== 'test' && purgedAt === null),
  );
  const links = offered.map(
    ({ report, name, format }) =>
      html`<li><a href="${runPath(run, `download/${report}`, { format })}">${name}</a></li>`,
  );
  return section('downloads', 'Downloads', html`<ul>${links}</ul>`);
}

function addRunDownloads({ addDownload, limits }: Tools): void {
  const where = { path: '/runs/:run/download/:report', scope: 'read' } as const;
  addDownload(where, async (view, { params, query }, format) => {
    const { run } = await requireVisibleRun(view, { params, query });
    const { context, zone } = view;
    const { state, cause, states } = readAskedContacts(query);
    const send = (report: RunReport) => (reply: FastifyReply) => sendRunReport(context, reply, report);
    switch (params['report']) {
      case 'run': {
        const whole = runFormats.find((each) => each === format);
        return whole && { limit: limits.report, send: send({ run, report: 'run', format: whole, zone }) };
      }
      case 'contacts': {
        const chosen = new Set<ReportedState>(state === undefined ? reportedStates : states);
        const contacts = { run, report: 'contacts', format, states: chosen, asContactFile: true } as const;
        return { limit: limits.report, send: send(contacts) };
      }
      case 'failures':
        return { limit: limits.list, send: send({ run, report: 'failures', format }) };
      case 'recipients': {
        const wanted = { run, states: recipientStates.filter((each) => states.includes(each)), group: cause };
        if (wanted.states.length === 0) return undefined;
        const found = {
          hasVariants: await hasVariants(context.ledger.pool, run),
          asOf: { at: context.now() },
        };
        const list = { run, which: state ?? 'all', ...found };
        const sheet = recipientSheet({ ...list, rows: streamRecipients(context.ledger.pool, wanted) });
        const file = { name: `recipients-${run}`, format };
        return { limit: limits.list, send: (reply) => sendSheet(reply, file, sheet) };
      }
      default:
        return undefined;
    }
  });
}
