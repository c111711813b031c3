import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { approveRun, requireApprover } from '../../engine/plan/approve-run.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import { requirePossible, resumeText } from '../../engine/runs/require-possible.ts';
import { cancel, pause } from '../../engine/runs/stop-run.ts';
import { type RunCounts, readRunCounts } from '../../ledger/counts/run-counts.ts';
import { count } from '../../platform/sentence.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { addAction, type Question } from '../base/actions.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { addRerun } from './rerun-action.ts';

/** Pause, resume, cancel, approve and send again. */
export function addRunActions(server: FastifyInstance, tools: Tools): void {
  const { accountNamed } = tools.scheduleSource;
  add(server, {
    name: 'pause',
    verb: 'Pause',
    scope: 'run',
    check: ({ context }, run) => requirePossible(context, run, 'pause'),
    about: async (counts) =>
      html`<p>Nothing more of it is sent until it is resumed. Answers to requests in flight are recorded.</p>
<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      await pause(context, run, reason);
      return 'The run is paused.';
    },
  });
  add(server, {
    name: 'resume',
    verb: 'Resume',
    scope: 'run',
    check: ({ context }, run) => requirePossible(context, run, 'resume'),
    about: async (counts) =>
      html`<p>Workers send what is left of it.</p>
<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      const before = await resumeByWorkers(context, run, accountNamed, reason);
      if (before === 'running') throw new InputError([{ where: `run ${run}`, what: resumeText(before) }]);
      return 'Workers send the run.';
    },
  });
  add(server, {
    name: 'cancel',
    verb: 'Cancel',
    scope: 'run',
    check: ({ context }, run) => requirePossible(context, run, 'cancel'),
    about: async (counts) =>
      html`<p>It ends for good: what is not sent yet is never sent. Answers to requests in flight are recorded.</p>
<p>It concerns ${unsent(counts)} not sent to yet: they get no message.</p>`,
    act: async ({ context }, run, reason) => {
      await cancel(context, run, reason);
      return 'The run is cancelled.';
    },
  });
  add(server, {
    name: 'approve',
    verb: 'Approve',
    scope: 'approve',
    check: ({ context }, run) => requireApprover(context, run),
    about: approvalText,
    act: async ({ context }, run, reason) => {
      await approveRun(context, run, reason);
      return 'The run is approved. If it does not start by itself, resume it.';
    },
  });
  addRerun(server, tools);
}

type RunAction = {
  readonly name: 'pause' | 'resume' | 'cancel' | 'approve';
  readonly verb: string;
  readonly scope: 'run' | 'approve';
  /** @throws InputError when it is not possible now */
  readonly check: (view: View, run: string) => Promise<unknown>;
  readonly about: (counts: RunCounts | undefined, view: View, run: string) => Promise<Html>;
  /** @returns what was done */
  readonly act: (view: View, run: string, reason: string) => Promise<string>;
};

function add(server: FastifyInstance, { name, verb, scope, check, about, act }: RunAction): void {
  const ask = async (view: View, { params }: Asked): Promise<Question> => {
    const { run, campaign, state } = await requireVisibleRun(view, params['run'] ?? '');
    const question = {
      within: { href: runPath(run), text: `${campaign} (${run})` },
    };
    const refused = await problemsOf(check(view, run));
    if (refused) {
      const body = html`<p>The run is ${badge(state)}.</p>${refused.map((what) => html`<p>${what}</p>`)}`;
      return { ...question, title: `${verb}: not possible now`, body };
    }
    const counts = (await readRunCounts(view.context.ledger.monitoring, [run])).get(run);
    return {
      ...question,
      title: `${verb} ${campaign} (${run})?`,
      body: html`<p>The run is ${badge(state)}.</p>
${await about(counts, view, run)}`,
      button: `${verb} the run`,
    };
  };
  addAction(
    server,
    { path: `/runs/:run/${name}`, scope },
    {
      ask,
      act: async (view, { params }, { reason = '' }) => {
        const { run } = await requireVisibleRun(view, params['run'] ?? '');
        return { to: runPath(run), notice: await act(view, run, reason) };
      },
    },
  );
}

/** While workers send the run, some of its pending recipients are being sent to. */
function unsent(counts: RunCounts | undefined): Html {
  const pending = counts?.recipients.pending ?? 0;
  const atMost = (counts?.requests.sending ?? 0) > 0 && 'at most ';
  return html`${atMost}<strong>${count(pending, 'recipient')}</strong> that ${pending === 1 ? 'was' : 'were'}`;
}

/** Undefined if it is possible. */
async function problemsOf(check: Promise<unknown>): Promise<readonly string[] | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error.problems.map(({ what }) => what);
    throw error;
  }
}

async function approvalText(counts: RunCounts | undefined, { context }: View, run: string): Promise<Html> {
  const { plannedBy, reason } = await requireApprover(context, run);
  return html`<p>It was planned by <bdi>${plannedBy}</bdi>, and waits for another person: ${formatReason(reason)}.</p>
<p>It sends to <strong>${count(counts?.recipients.pending ?? 0, 'recipient')}</strong>. <a href="${runPath(run, 'plan')}">Look at the plan and the messages first</a>.</p>`;
}
