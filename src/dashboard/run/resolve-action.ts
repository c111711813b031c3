import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import type { LookUpJobs } from '../../engine/runs/look-up-jobs.ts';
import { html } from '../../report/html/html.ts';
import { addAction, type Question } from '../base/actions.ts';
import { textIn } from '../base/fields.ts';
import { requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { type Choice, type ChosenDoubts, findChosen, readChoice, resolveChosen } from './resolve-doubts.ts';
import { buttonOf, resolveText } from './resolve-part.ts';

/** The confirmation of a decision about doubts, and the decision. The chosen requests are in the address. */
export function addResolveAction(server: FastifyInstance, jobs: LookUpJobs): void {
  addAction(
    server,
    { path: '/runs/:run/doubts/resolve', scope: 'admin' },
    {
      needsReason: ({ query }) => textIn(query, 'decision') !== 'ask',
      ask: async (view, { params, query }) => {
        const { run, campaign } = await requireVisibleRun(view, params['run'] ?? '');
        const within = { href: runPath(run, 'doubts'), text: `Doubts of ${campaign}` };
        const found = await findOrRefuse(view, readChoice(run, query));
        if (found instanceof InputError) return notPossible(within, found);
        return {
          title: `Resolve doubts of ${campaign}`,
          button: buttonOf(found.decision),
          within,
          body: html`${resolveText(found)}<input type="hidden" name="confirmed" value="${found.requests}"><input type="hidden" name="seen" value="${found.seen}">`,
        };
      },
      act: async (view, { params, query }, { confirmed = '', seen = '', reason = '' }) => {
        const { run } = await requireVisibleRun(view, params['run'] ?? '');
        const decision = { confirmed: Number(confirmed), seen, reason };
        const choice = readChoice(run, query);
        if (typeof choice === 'string') throw new InputError([{ where: `run ${run}`, what: choice }]);
        const notice = await resolveChosen(view.context, jobs, choice, decision);
        // What is to be sent again waits for a resume, which the page of the run offers.
        return { to: runPath(run, choice.decision === 'resend' ? '' : 'doubts'), notice };
      },
    },
  );
}

/** What keeps the person from deciding is on a page that leads back to the list. */
async function findOrRefuse({ context }: View, choice: Choice | string): Promise<ChosenDoubts | InputError> {
  if (typeof choice === 'string') return new InputError([{ where: 'doubts', what: choice }]);
  try {
    return await findChosen(context, choice);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

function notPossible(within: Question['within'], { problems }: InputError): Question {
  return {
    title: 'Resolve doubts: not possible now',
    body: html`${problems.map(({ what }) => html`<p>${what}</p>`)}`,
    within,
  };
}
