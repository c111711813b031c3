import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import type { LookUpJobs } from '../../engine/runs/look-up-jobs.ts';
import { html } from '../../report/html/html.ts';
import { addAction } from '../base/actions.ts';
import { requireVisibleRun } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { type Choice, findChosen, readChoice, resolveChosen } from './resolve-doubts.ts';
import { buttonOf, resolveText } from './resolve-part.ts';

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** The confirmation of a decision about doubts, and the decision. The chosen requests are in the address. */
export function addResolveAction(server: FastifyInstance, jobs: LookUpJobs): void {
  addAction(
    server,
    { path: '/runs/:run/doubts/resolve', scope: 'admin' },
    {
      ask: async (view, { params, query }) => {
        const { run, campaign } = await requireVisibleRun(view, params['run'] ?? '');
        const found = await findChosen(view.context, chosenIn(run, query));
        return {
          title: `Resolve doubts of ${campaign}`,
          button: buttonOf(found.decision),
          reason: found.decision === 'ask' ? 'none' : 'required',
          within: { href: runPath(run, 'doubts'), text: `Doubts of ${campaign}` },
          body: html`${resolveText(found)}<input type="hidden" name="confirmed" value="${found.requests}">`,
        };
      },
      act: async (view, { params, query }, { confirmed = '', reason = '' }) => {
        const { run } = await requireVisibleRun(view, params['run'] ?? '');
        const decision = { confirmed: Number(confirmed), reason: reason.trim() };
        const choice = chosenIn(run, query);
        const notice = await resolveChosen(view.context, jobs, choice, decision);
        // What is to be sent again waits for a resume, which the page of the run offers.
        return { to: runPath(run, choice.decision === 'resend' ? '' : 'doubts'), notice };
      },
    },
  );
}

function chosenIn(run: string, { decision, which, request }: Fields): Choice {
  const one = (value: string | readonly string[] | undefined): string | undefined => [value ?? []].flat()[0];
  const choice = readChoice(run, { decision: one(decision), which: one(which), request });
  if (typeof choice === 'string') throw new InputError([{ where: `run ${run}`, what: choice }]);
  return choice;
}
