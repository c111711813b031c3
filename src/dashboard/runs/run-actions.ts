import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import { approveRun, requireApprover } from '../../engine/plan/approve-run.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import { promoteRun, requirePromotable } from '../../engine/runs/promote-run.ts';
import { listPromotable, promoteVariant } from '../../engine/runs/promote-variant.ts';
import { cancel, pause, requirePossible, resumeText } from '../../engine/runs/stop-run.ts';
import { type RunCounts, readRunCounts } from '../../ledger/counts/run-counts.ts';
import { count } from '../../platform/sentence.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type RunAction, runActionWords } from '../../report/run-action-words.ts';
import { addAction, type FormFields, type Question } from '../base/actions.ts';
import { messagePolicy } from '../base/guards.ts';
import { orInputError, problemText, refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { plannedPart, type ReadPlannedRun } from '../plan/plan-page.ts';
import { requireTypedNumber, typedNumberField } from '../plan/typed-number.ts';
import { addRerun } from './rerun-action.ts';

/** Pause, resume, promote, cancel, approve and send again. */
export function addRunActions(server: FastifyInstance, tools: Tools, readPlan: ReadPlannedRun): void {
  const { accountNamed } = tools.campaignSource;
  add(server, {
    name: 'pause',
    check: ({ context }, run) => requirePossible(context, run, 'pause'),
    about: (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      await pause(context, run, reason);
      return 'The run is paused.';
    },
  });
  add(server, {
    name: 'resume',
    check: ({ context }, run) => requirePossible(context, run, 'resume'),
    about: (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason) => {
      const before = await resumeByWorkers(context, run, accountNamed, reason);
      if (before === 'running') refuse(`run ${run}`, resumeText(before));
      return 'Workers send the run.';
    },
  });
  add(server, {
    name: 'promote',
    check: async ({ context }, run) => {
      if ((await listPromotable(context, run)).length === 0) await requirePromotable(context, run);
    },
    variants: ({ context }, run) => listPromotable(context, run),
    about: (counts) => html`<p>It concerns ${unsent(counts)} not sent to yet.</p>`,
    act: async ({ context }, run, reason, variant) => {
      if (variant !== undefined) {
        await promoteVariant(context, run, variant, reason);
        return `The rest gets variant ${variant}.`;
      }
      await promoteRun(context, run, accountNamed, reason);
      return 'The run is promoted. Workers send the rest.';
    },
  });
  add(server, {
    name: 'cancel',
    check: ({ context }, run) => requirePossible(context, run, 'cancel'),
    about: (counts, state) =>
      hasEnded(state)
        ? html`<p>It concerns the contacts that wait for a winner: they get no message.</p>`
        : html`<p>It concerns ${unsent(counts)} not sent to yet: they get no message.</p>`,
    act: async ({ context }, run, reason) => {
      await cancel(context, run, reason);
      return 'The run is cancelled.';
    },
  });
  add(server, {
    name: 'approve',
    check: ({ context }, run) => requireApprover(context, run),
    readPlan,
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
  readonly about?: (counts: RunCounts | undefined, state: RunState) => Html;
  /** The variants that the rest can get; empty: nothing waits for one. */
  readonly variants?: (view: View, run: string) => Promise<readonly string[]>;
  /** The plan, which the person looks at first. */
  readonly readPlan?: ReadPlannedRun;
  /** @returns what was done */
  readonly act: (view: View, run: string, reason: string, variant: string | undefined) => Promise<string>;
};

function add(server: FastifyInstance, { name, check, about, variants, readPlan, act }: OfferedAction): void {
  const { verb, what } = runActionWords[name];
  const ask = async (view: View, asked: Asked, fields: FormFields): Promise<Question> => {
    const found = await requireVisibleRun(view, asked);
    const { run, campaign, state } = found;
    const within = { href: runPath(run), text: `${campaign} (${run})` };
    const refused = await orInputError(check(view, run));
    if (refused instanceof InputError) {
      const body = html`<p>The run is ${badge(state)}.</p><p>${problemText(refused)}</p>`;
      return { within, title: `${verb}: not possible now`, body };
    }
    const names = (await variants?.(view, run)) ?? [];
    if (names.length > 0)
      return {
        within,
        title: `${verb} a variant of ${campaign} (${run})?`,
        body: html`<p>A run of its own sends it to all that wait for it.</p>
<fieldset><legend>What the rest gets</legend>${names.map((each) => variantField(each, fields['variant']))}</fieldset>`,
        button: `${verb} the variant`,
      };
    const counts = about && (await readRunCounts(view.context.ledger.monitoring, [run])).get(run);
    const plan = await readPlan?.(view, found, asked.query);
    return {
      within,
      title: `${verb} ${campaign} (${run})?`,
      body: html`<p>The run is ${badge(state)}. ${what}</p>
${about?.(counts, state)}
${plan && html`<p>It sends to <strong>${count(plan.facts.recipients, 'recipient')}</strong>.</p>${typedNumberField(plan.facts, fields)}`}`,
      ...(plan && { above: plannedPart(plan, view, 'approve'), policy: messagePolicy }),
      button: `${verb} the run`,
    };
  };
  addAction(server, {
    path: `/runs/:run/${name}`,
    scope: name === 'approve' ? 'approve' : 'run',
    ask,
    act: async (view, asked, fields) => {
      const found = await requireVisibleRun(view, asked);
      const { run } = found;
      const { reason = '' } = fields;
      const plan = await readPlan?.(view, found, asked.query);
      if (plan) requireTypedNumber(plan.facts, fields);
      return { to: runPath(run), notice: await act(view, run, reason, fields['variant']) };
    },
  });
}

function variantField(name: string, chosen: string | undefined): Html {
  return html`<p><label><input type="radio" name="variant" value="${name}" required${name === chosen && html` checked`}> ${name}</label></p>
`;
}

/** While workers send the run, some of its pending recipients are being sent to. */
function unsent(counts: RunCounts | undefined): Html {
  const pending = counts?.recipients.pending ?? 0;
  const atMost = (counts?.requests.sending ?? 0) > 0 && 'at most ';
  return html`${atMost}<strong>${count(pending, 'recipient')}</strong> that ${pending === 1 ? 'was' : 'were'}`;
}
