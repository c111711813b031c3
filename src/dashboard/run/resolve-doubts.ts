import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import { requireUnpurgedRun } from '../../engine/runs/find-run.ts';
import type { LookUpJobs } from '../../engine/runs/look-up-jobs.ts';
import { listNamedDoubts, resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { digestOf } from '../../platform/digest.ts';
import { count } from '../../platform/sentence.ts';
import { formatResolved } from '../../report/doubts.ts';
import { type Fields, textIn, textsIn } from '../base/fields.ts';
import type { Decision } from './doubts-part.ts';
import { isDecision, type ResolveQuestion } from './resolve-part.ts';

/** What the person chose on the page of doubts. */
export type Choice = {
  readonly run: string;
  readonly decision: Decision;
  /** Numbers of requests; undefined: all in doubt, or all of the group. */
  readonly requests: readonly string[] | undefined;
  /** Of requests with the same answer (`FailureGroup.group`). */
  readonly group?: string | undefined;
};

/** @returns a sentence about what is missing, if anything */
export function readChoice(run: string, query: Fields): Choice | string {
  const decision = textIn(query, 'decision');
  if (!isDecision(decision)) return 'Choose what to do.';
  const group = textIn(query, 'group');
  if (group !== '') return { run, decision, requests: undefined, group };
  if (textIn(query, 'which') === 'all') return { run, decision, requests: undefined };
  const requests = textsIn(query, 'request');
  if (requests.length === 0) return 'Choose at least one request, or go on with all of them.';
  return { run, decision, requests };
}

/** The requests that a decision concerns, and how many people. */
export type ChosenDoubts = ResolveQuestion & {
  readonly numbers: readonly string[];
  /** Differs for other requests. */
  readonly seen: string;
};

/** @throws InputError if a chosen request, or all of the run, are not in doubt any more, or a purged run is to be sent again */
export async function findChosen(
  context: EngineContext,
  { run, decision, requests, group }: Choice,
): Promise<ChosenDoubts> {
  if (decision === 'resend') await requireUnpurgedRun(context, run);
  const numbers: string[] = [];
  let recipients = 0;
  for await (const page of await listNamedDoubts(context, { run, named: requests, group })) {
    for (const doubt of page) {
      numbers.push(String(doubt.request));
      recipients += doubt.recipients;
    }
  }
  if (numbers.length === 0)
    throw new InputError([{ where: `run ${run}`, what: 'No request is in doubt any more.' }]);
  const seen = digestOf(numbers.join()).toString('hex');
  return { run, decision, requests: numbers.length, recipients, numbers, seen };
}

/**
 * Carries out what the person confirmed, about the requests that the confirmation counted.
 *
 * @param confirmed how many requests the confirmation named
 * @param seen of the confirmation
 * @returns a sentence about the result
 * @throws InputError if other requests are in doubt now, or as `resolveDoubts` and `LookUpJobs.start`
 */
export async function resolveChosen(
  context: EngineContext,
  jobs: LookUpJobs,
  choice: Choice,
  {
    confirmed,
    seen,
    reason,
  }: { readonly confirmed: number; readonly seen?: string; readonly reason: string },
): Promise<string> {
  const { run, decision, requests, numbers, ...found } = await findChosen(context, choice);
  if (requests !== confirmed) {
    const what = `${count(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in doubt now, not ${confirmed}. Look again before you decide.`;
    throw new InputError([{ where: `run ${run}`, what }]);
  }
  if (seen !== undefined && seen !== found.seen) {
    const what = 'Other requests are in doubt now. Look again before you decide.';
    throw new InputError([{ where: `run ${run}`, what }]);
  }
  if (decision === 'ask') {
    await jobs.start(context, { run, named: numbers });
    return `The service is being asked about ${count(requests, 'request')}, one a second.`;
  }
  const by = context.actor.name;
  const resolved = await resolveDoubts(
    context,
    { run, named: numbers },
    { resolution: decision, by, reason },
  );
  const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
  if (decision === 'resend')
    return `${count(resolved.length, 'request')} with ${count(recipients, 'recipient')}: to be sent again. When the run is paused, resume it to send them.`;
  return formatResolved({ run, resolution: decision, requests: resolved.length, recipients });
}
