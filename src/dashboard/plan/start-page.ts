import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import type { Start } from '../../engine/access/start-by-key.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { findStartedByKey } from '../../ledger/runs/made-once.ts';
import { html } from '../../report/html/html.ts';
import { numberIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { Asked, View } from '../base/view.ts';
import { pathWith, runPath } from '../paths.ts';
import type { PlanState } from './kept-plans.ts';
import { requireTypedNumber } from './plan-part.ts';
import { notStarted, type PlannedStart, progressPart, rowIn, startContent } from './start-part.ts';

type StartPage = {
  readonly path: string;
  readonly needsReason: boolean;
  readonly open: (view: View, asked: Asked) => Promise<PlannedStart>;
};

/** Milliseconds. A small plan is made before its page is sent. */
const firstWait = 1_500;

/**
 * The one page before every start. It shows the plan, which is made in the background, and its form starts exactly this
 * plan. `…/anew` makes another, and `…/test` sends a row of it to the person.
 */
export function addStartPage(tools: Tools, { path, needsReason, open }: StartPage): void {
  const { addLivePage, addForm, plans } = tools;
  // People of one group of the company's identity provider have one token.
  const ownOf = ({ session: { name, owner } }: View, { key, make }: PlannedStart) => ({
    owner: JSON.stringify([name, owner]),
    key,
    make,
  });
  addLivePage<{ readonly start: PlannedStart; readonly state: PlanState }>({
    path,
    scope: 'run',
    open: async (view, asked) => {
      const start = await open(view, asked);
      const plan = await plans.open(ownOf(view, start), rowIn(asked));
      await Promise.race([plan.ended, sleep(firstWait)]);
      return { key: `plan ${plan.id}`, read: async () => ({ start, state: plan.state() }) };
    },
    hasEnded: ({ state }) => state.kind !== 'planning',
    render: ({ state }) => (state.kind === 'planning' ? progressPart(state) : html``),
    around: ({ start, state }, view, asked) => {
      // What refused the plan may be corrected when the page is opened again.
      if (state.kind === 'refused') plans.drop(ownOf(view, start));
      return startContent(start, state, { view, asked, needsReason });
    },
  });
  const form = { scope: 'run', needsReason: () => false } as const;
  const again: Parameters<typeof addForm>[0]['again'] = async (view, asked, refused) => {
    const start = await open(view, asked);
    const plan = plans.find(ownOf(view, start));
    if (!plan) return notStarted(start, refused.error);
    return startContent(start, { kind: 'planned', plan }, { view, asked, needsReason, ...refused });
  };
  addForm({
    ...form,
    path,
    needsReason: () => needsReason,
    again,
    act: async (view, asked, fields) => {
      const key = fields['plan'] ?? '';
      // A form that was sent before opens the run that it started. What it was planned of may be gone.
      const known = await findStartedByKey(view.context.ledger.pool, { token: view.session.name, key });
      if (known) return { to: runPath(known.run), notice: 'This form has started the run already.' };
      const start = await open(view, asked);
      const own = ownOf(view, start);
      const plan = plans.find(own);
      if (plan?.proof.id !== requireKey(key)) return refuse('plan', gone);
      requireTypedNumber(plan.figures, fields);
      const started = await start.start(plan, fields).catch((error: unknown) => {
        if (error instanceof InputError || error instanceof NothingNewError) plans.drop(own);
        return asInputError(error);
      });
      const opened = openStarted(started);
      plans.drop(own);
      return opened;
    },
  });
  addForm({
    ...form,
    path: `${path}/anew`,
    again,
    act: async (view, asked) => {
      const start = await open(view, asked);
      plans.drop(ownOf(view, start));
      return { to: pathWith(start.path, start.query), notice: 'It is planned anew.' };
    },
  });
  addForm({
    ...form,
    path: `${path}/test`,
    again,
    act: async (view, asked, fields) => {
      const { test } = await open(view, asked);
      const [row, address] = [numberIn(fields, 'row'), (fields['address'] ?? '').trim()];
      if (!test) return refuse('test', 'It cannot be tried.');
      if (row === 0) refuse('row', 'Write the number of a row.');
      if (address === '') refuse('address', 'Write your address.');
      const key = requireKey(fields['key'] ?? '');
      return openStarted(await test({ key, row, address }).catch(asInputError));
    },
  });
}

const gone =
  'This plan is not kept any more: it was replaced, is older than an hour, or Volley was started again. Nothing was started.';

function asInputError(error: unknown): never {
  if (error instanceof NothingNewError) return refuse('start', error.message);
  throw error;
}

/** @throws InputError for a form without a key */
function requireKey(key: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(key)
    ? key
    : refuse('start', 'The form is incomplete. Open this page again.');
}

/**
 * Opens the run that the form started, also when the form is sent again.
 *
 * @throws InputError with why the form has planned no run
 */
function openStarted(start: Start): { to: string; notice: string } {
  switch (start.kind) {
    case 'key of another':
      return refuse('start', `This form started run ${start.run} already.`);
    case 'under way':
      return refuse(
        'start',
        'This form was sent already, and its run is being planned. Press the button again in a moment: it opens that run, and starts no other.',
      );
    case 'planned':
    case 'repeated': {
      const next = start.waitsForApproval ? ', and waits for approval.' : '; workers send it.';
      return { to: runPath(start.run), notice: `The run is planned${next}` };
    }
  }
}
