import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { LookUpJobs } from '../../engine/runs/ask-about-doubts.ts';
import { requireUnpurgedRun } from '../../engine/runs/find-run.ts';
import { listNamedDoubts, resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { digestOf } from '../../platform/digest.ts';
import { count } from '../../platform/sentence.ts';
import { html } from '../../report/html/html.ts';
import { formatResolved, resolutionWords } from '../../report/look-up-words.ts';
import { addAction } from '../base/actions.ts';
import { type Fields, textIn, textsIn, wordIn } from '../base/fields.ts';
import { orInputError, problemText, refuse } from '../base/problems.ts';
import { requireVisibleRun } from '../base/view.ts';
import { runPath } from '../paths.ts';

/** What an operator can do about requests in doubt. */
export const decisions = {
  ask: {
    name: 'Ask the service',
    what: 'Volley asks for the status of each request, at most one a second. What the service has is accepted; the others stay in doubt.',
  },
  ...resolutionWords,
} as const;
type Decision = keyof typeof decisions;
/** The decisions in the order in which a page offers them. */
export const decisionNames = ['ask', 'accepted', 'resend', 'abandon'] as const satisfies readonly Decision[];

/** The confirmation of a decision about doubts, and the decision. The chosen requests are in the address. */
export function addResolveAction(server: FastifyInstance, jobs: LookUpJobs): void {
  addAction(server, {
    path: '/runs/:run/doubts/resolve',
    scope: 'admin',
    needsReason: ({ query }) => textIn(query, 'decision') !== 'ask',
    ask: async (view, asked) => {
      const { run, campaign } = await requireVisibleRun(view, asked);
      const within = { href: runPath(run, 'doubts'), text: `Doubts of ${campaign}` };
      const find = async () => findChosen(view.context, readChoice(run, asked.query));
      const found = await orInputError(find());
      if (found instanceof InputError) {
        const body = html`<p>${problemText(found)}</p>`;
        return { title: 'Resolve doubts: not possible now', body, within };
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
      const confirmation = { confirmed: Number(confirmed), seen, reason };
      const notice = await resolveChosen(view.context, jobs, choice, confirmation);
      // What is to be sent again waits for a resume, which the page of the run offers.
      return { to: runPath(run, choice.decision === 'resend' ? '' : 'doubts'), notice };
    },
  });
}

/** What the person chose on the page of doubts. */
type Choice = {
  readonly run: string;
  readonly decision: Decision;
  /** Numbers of requests; undefined: all in doubt, or all of the group. */
  readonly requests: readonly string[] | undefined;
  /** Requests with the same answer (`FailureGroup.group`). */
  readonly group?: string | undefined;
};

/** @throws InputError about what is missing */
export function readChoice(run: string, query: Fields): Choice {
  const decision = wordIn(query, 'decision', decisionNames) ?? refuse(`run ${run}`, 'Choose what to do.');
  const group = textIn(query, 'group');
  if (group !== '') return { run, decision, requests: undefined, group };
  if (textIn(query, 'which') === 'all') return { run, decision, requests: undefined };
  const requests = textsIn(query, 'request');
  if (requests.length === 0) refuse(`run ${run}`, 'Choose at least one request, or go on with all of them.');
  return { run, decision, requests };
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

type Confirmation = {
  /** How many requests the confirmation named. */
  readonly confirmed: number;
  /** Which ones, as `ChosenDoubts`. */
  readonly seen?: string;
  readonly reason: string;
};

/**
 * Carries out what the person confirmed, about the requests that the confirmation counted.
 *
 * @returns a sentence about the result
 * @throws InputError if other requests are in doubt now, or as `resolveDoubts` and `LookUpJobs.start`
 */
export async function resolveChosen(
  context: EngineContext,
  jobs: LookUpJobs,
  choice: Choice,
  { confirmed, seen, reason }: Confirmation,
): Promise<string> {
  const { run, decision } = choice;
  const { requests, numbers, ...found } = await findChosen(context, choice);
  if (requests !== confirmed)
    refuse(
      `run ${run}`,
      `${count(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in doubt now, not ${confirmed}. Look again before you decide.`,
    );
  if (seen !== undefined && seen !== found.seen)
    refuse(`run ${run}`, 'Other requests are in doubt now. Look again before you decide.');
  const named = { run, named: numbers };
  if (decision === 'ask') {
    await jobs.start(context, named);
    return `The service is being asked about ${count(requests, 'request')}, one a second.`;
  }
  const by = context.actor.name;
  const resolved = await resolveDoubts(context, named, { resolution: decision, by, reason });
  const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
  if (decision === 'resend')
    return `${count(resolved.length, 'request')} with ${count(recipients, 'recipient')}: to be sent again. When the run is paused, resume it to send them.`;
  return formatResolved({ run, resolution: decision, requests: resolved.length, recipients });
}
