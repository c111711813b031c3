import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { approveRun, requireApprover } from '../../engine/plan/approve-run.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import { cancel, pause, requirePossible, resumeText } from '../../engine/runs/stop-run.ts';
import { type RunCounts, readRunCounts } from '../../ledger/counts/run-counts.ts';
import { count } from '../../platform/sentence.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type RunAction, runActionWords } from '../../report/run-action-words.ts';
import { addAction, type Question } from '../base/actions.ts';
import { orInputError, refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { addRerun } from './rerun-action.ts';

/** Pause, resume, cancel, approve and send again. */
export function addRunActions(server: FastifyInstance, tools: Tools): void {
  const { accountNamed } = tools.campaignSource;
  add(server, {
    name: 'pause',
    check: ({ context }, run) => requirePossible(context, run, 'pause'),
    about: async (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      await pause(context, run, reason);
      return 'The run is paused.';
    },
  });
  add(server, {
    name: 'resume',
    check: ({ context }, run) => requirePossible(context, run, 'resume'),
    about: async (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      const before = await resumeByWorkers(context, run, accountNamed, reason);
      if (before === 'running') refuse(`run ${run}`, resumeText(before));
      return 'Workers send the run.';
    },
  });
  add(server, {
    name: 'cancel',
    check: ({ context }, run) => requirePossible(context, run, 'cancel'),
    about: async (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet: they get no message.</p>`,
    act: async ({ context }, run, reason) => {
      await cancel(context, run, reason);
      return 'The run is cancelled.';
    },
  });
  add(server, {
    name: 'approve',
    check: ({ context }, run) => requireApprover(context, run),
    about: approvalText,
    act: async ({ context }, run, reason) => {
      await approveRun(context, run, reason);
      return 'The run is approved. Resume it, unless it starts by itself.';
    },
  });
  addRerun(server, tools);
}

type OfferedAction = {
  readonly name: RunAction;
  /** @throws InputError when it is not possible now */
  readonly check: (view: View, run: string) => Promise<unknown>;
  /** What it concerns. */
  readonly about: (counts: RunCounts | undefined, view: View, run: string) => Promise<Html>;
  /** @returns what was done */
  readonly act: (view: View, run: string, reason: string) => Promise<string>;
};

function add(server: FastifyInstance, { name, check, about, act }: OfferedAction): void {
  const { verb, what } = runActionWords[name];
  const ask = async (view: View, asked: Asked): Promise<Question> => {
    const { run, campaign, state } = await requireVisibleRun(view, asked);
    const within = { href: runPath(run), text: `${campaign} (${run})` };
    const refused = await orInputError(check(view, run));
    if (refused instanceof InputError) {
      const body = html`<p>The run is ${badge(state)}.</p>${refused.problems.map((each) => html`<p>${each.what}</p>`)}`;
      return { within, title: `${verb}: not possible now`, body };
    }
    const counts = (await readRunCounts(view.context.ledger.monitoring, [run])).get(run);
    return {
      within,
      title: `${verb} ${campaign} (${run})?`,
      body: html`<p>The run is ${badge(state)}. ${what}</p>
${await about(counts, view, run)}`,
      button: `${verb} the run`,
    };
  };
  addAction(server, {
    path: `/runs/:run/${name}`,
    scope: name === 'approve' ? 'approve' : 'run',
    ask,
    act: async (view, asked, { reason = '' }) => {
      const { run } = await requireVisibleRun(view, asked);
      return { to: runPath(run), notice: await act(view, run, reason) };
    },
  });
}

/** While workers send the run, some of its pending recipients are being sent to. */
function unsent(counts: RunCounts | undefined): Html {
  const pending = counts?.recipients.pending ?? 0;
  const atMost = (counts?.requests.sending ?? 0) > 0 && 'at most ';
  return html`${atMost}<strong>${count(pending, 'recipient')}</strong> that ${pending === 1 ? 'was' : 'were'}`;
}

async function approvalText(counts: RunCounts | undefined, { context }: View, run: string): Promise<Html> {
  const { plannedBy, reason } = await requireApprover(context, run);
  return html`<p>It was planned by <bdi>${plannedBy}</bdi>, and waits for another person: ${formatReason(reason)}.</p>
<p>It sends to <strong>${count(counts?.recipients.pending ?? 0, 'recipient')}</strong>. <a href="${runPath(run, 'plan')}">Look at the plan and the messages first</a>.</p>`;
}
