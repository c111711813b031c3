import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RerunState, rerunStates } from '../../domain/runs.ts';
import { rerunByKey, startOnce } from '../../engine/access/start-by-key.ts';
import { approveRun, requireApprover } from '../../engine/plan/approve-run.ts';
import { planOfRerun } from '../../engine/plan/rerun-plan.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import {
  listPromotable,
  promoteRun,
  promoteVariant,
  requirePromotable,
} from '../../engine/runs/promote-run.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { cancel, pause, requirePossible, resumeText } from '../../engine/runs/stop-run.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type RunAction, runActionWords } from '../../report/run-action-words.ts';
import type { Action, FormFields, Question } from '../base/actions.ts';
import { type Fields, numberIn, textsIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import { orInputError, problemText, refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View } from '../base/view.ts';
import { recipientOfRunPath, runPath } from '../paths.ts';
import { addPlanPage, createPlannedRunReader, plannedPart, type ReadPlannedRun } from '../plan/plan-page.ts';
import { requireTypedNumber, typedNumberField } from '../plan/plan-part.ts';
import { addStartPage } from '../plan/start-page.ts';

/** Its plan, and pause, resume, promote, cancel, approve and send again. */
export function addRunActions(tools: Tools): void {
  const readPlan = createPlannedRunReader(tools);
  addPlanPage(tools, readPlan);
  const { accountNamed } = tools.campaignSource;
  const add = (action: OfferedAction): void => tools.addAction(actionOf(action));
  add({
    name: 'pause',
    check: ({ context }, run) => requirePossible(context, run, 'pause'),
    act: async ({ context }, run, reason) => {
      await pause(context, run, reason);
      return 'The run is paused.';
    },
  });
  add({
    name: 'resume',
    check: ({ context }, run) => requirePossible(context, run, 'resume'),
    act: async ({ context }, run, reason) => {
      const before = await resumeByWorkers(context, run, accountNamed, reason);
      if (before === 'running') refuse(`run ${run}`, resumeText(before));
      return 'Workers send the run.';
    },
  });
  add({
    name: 'promote',
    check: async ({ context }, run) => {
      if ((await listPromotable(context, run)).length === 0)
        await requirePromotable(context.ledger.pool, run);
    },
    variants: ({ context }, run) => listPromotable(context, run),
    act: async ({ context }, run, reason, variant) => {
      if (variant !== undefined) {
        await promoteVariant(context, run, variant, reason);
        return `The rest gets variant ${variant}.`;
      }
      await promoteRun(context, run, accountNamed, reason);
      return 'The run is promoted. Workers send the rest.';
    },
  });
  add({
    name: 'cancel',
    check: ({ context }, run) => requirePossible(context, run, 'cancel'),
    act: async ({ context }, run, reason) => {
      await cancel(context, run, reason);
      return 'The run is cancelled.';
    },
  });
  add({
    name: 'approve',
    check: ({ context }, run) => requireApprover(context, run),
    readPlan,
    act: async ({ context }, run, reason) => {
      await approveRun(context, run, reason);
      return 'The run is approved. Resume it, unless it starts by itself.';
    },
  });
  addRerun(tools);
}

type OfferedAction = {
  readonly name: RunAction;
  /** @throws InputError when it is not possible now */
  readonly check: (view: View, run: string) => Promise<unknown>;
  /** The variants that the rest can get; empty: nothing waits for one. */
  readonly variants?: (view: View, run: string) => Promise<readonly string[]>;
  readonly readPlan?: ReadPlannedRun;
  /** @returns what was done */
  readonly act: (view: View, run: string, reason: string, variant: string | undefined) => Promise<string>;
};

function actionOf({ name, check, variants, readPlan, act }: OfferedAction): Action {
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
    const plan = await readPlan?.(view, found, asked.query);
    return {
      within,
      title: `${verb} ${campaign} (${run})?`,
      body: html`<p>The run is ${badge(state)}. ${what}</p>
${plan ? html`<p>It sends to <strong>${count(plan.facts.recipients, 'recipient')}</strong>.</p>${typedNumberField(plan.facts, fields)}` : await concernsPart(view, name, found)}`,
      ...(plan && { above: plannedPart(plan, view, 'approve'), policy: messagePolicy }),
      button: `${verb} the run`,
    };
  };
  return {
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
  };
}

function variantField(name: string, chosen: string | undefined): Html {
  return html`<p><label><input type="radio" name="variant" value="${name}" required${name === chosen && html` checked`}> ${name}</label></p>
`;
}

/** Whom it concerns. While workers send the run, some of its pending recipients are being sent to. */
async function concernsPart({ context }: View, name: RunAction, { run, state }: Run): Promise<Html> {
  const fate = name === 'cancel' && ': they get no message';
  if (name === 'cancel' && hasEnded(state))
    return html`<p>It concerns the contacts that wait for a winner${fate}.</p>`;
  const counts = (await readRunCounts(context.ledger.monitoring, [run])).get(run);
  const pending = counts?.recipients.pending ?? 0;
  const atMost = (counts?.requests.sending ?? 0) > 0 && 'at most ';
  return html`<p>It concerns ${atMost}<strong>${count(pending, 'recipient')}</strong> that ${pending === 1 ? 'was' : 'were'} not sent to yet${fate}.</p>`;
}

/** Sends the same messages again, to recipients in the states that the address names: once for each plan. */
function addRerun(tools: Tools): void {
  const { accountNamed } = tools.campaignSource;
  addStartPage(tools, {
    path: '/runs/:run/rerun',
    needsReason: true,
    open: async (view, asked) => {
      const { run, campaign, account: name } = await requireVisibleRun(view, asked);
      const states = statesIn(asked.query);
      const only = states.join(',');
      const row = numberIn(asked.query, 'recipient') || undefined;
      const recipient = row === undefined ? '' : String(row);
      return {
        title: `Send ${campaign} (${run}) again`,
        within:
          row === undefined
            ? { href: runPath(run), text: `${campaign} (${run})` }
            : { href: recipientOfRunPath(run, row), text: `The recipient of row ${row}` },
        path: runPath(run, 'rerun'),
        query: { only, recipient },
        key: JSON.stringify({ rerun: run, only, recipient }),
        about: html`<p>A new run sends the same messages to ${row === undefined ? 'its recipients that are' : `its recipient of row ${row} alone, if it is`} <strong>${states.join(' or ')}</strong>. Suppressed addresses are left out, and so are recipients of an earlier rerun. Today's rates and the budget of the campaign apply.</p>
${states.includes('unknown') && html`<p class="banner">Recipients whose state is unknown may have the message already, and then get it <strong>twice</strong>.</p>`}`,
        make: async (_, fromRow) =>
          planOfRerun(view.context, { of: run, states, row, account: await accountNamed(name) }, fromRow),
        button: 'Send again',
        start: async ({ proof: plan }, { reason = '' }) => {
          const account = await accountNamed(name);
          await requireReachable(account);
          const request = {
            token: view.session.name,
            key: plan.id,
            of: run,
            states,
            row,
            account,
            reason,
            plan,
          };
          return startOnce(view.context, tools, () => rerunByKey(view.context, request));
        },
      };
    },
  });
}

/** `failed` is also what the service rejected, as a person means it. */
function statesIn(query: Fields): readonly RerunState[] {
  const named = textsIn(query, 'only').flatMap((text) => text.split(','));
  const states = rerunStates.filter(
    (state) => named.includes(state) || (state === 'rejected' && named.includes('failed')),
  );
  return states.length > 0 ? states : refuse('only', `Expected one of ${rerunStates.join(', ')}.`);
}
