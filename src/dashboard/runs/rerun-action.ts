import type { FastifyInstance } from 'fastify';
import { type RerunState, rerunStates } from '../../domain/runs.ts';
import { rerunByKey, startOnce } from '../../engine/access/start-by-key.ts';
import { requireSummary } from '../../engine/runs/find-run.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { count } from '../../platform/sentence.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { html, type Part } from '../../report/html/html.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { addAction, type Question } from '../base/actions.ts';
import { type Fields, textsIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { keyField, openStarted, requireKey } from './new-run.ts';

/** Sends the same messages again, to recipients in the states that the address names: once for each form. */
export function addRerun(server: FastifyInstance, tools: Tools): void {
  const { campaignSource } = tools;
  addAction(server, {
    path: '/runs/:run/rerun',
    scope: 'run',
    ask: (view, asked, { key }) => ask(tools, view, asked, key),
    act: async (view, asked, { key = '', reason = '' }) => {
      const { run, account: name } = await requireVisibleRun(view, asked);
      const account = await campaignSource.accountNamed(name);
      await requireReachable(account);
      const request = {
        token: view.session.name,
        key: requireKey(key),
        of: run,
        states: statesIn(asked.query),
        account,
        reason,
      };
      return openStarted(await startOnce(view.context, tools, () => rerunByKey(view.context, request)));
    },
  });
}

async function ask({ limits }: Tools, view: View, asked: Asked, key: string | undefined): Promise<Question> {
  const { run, campaign, state, purgedAt } = await requireVisibleRun(view, asked);
  const states = statesIn(asked.query);
  const question = {
    title: `Send ${campaign} (${run}) again?`,
    within: { href: runPath(run), text: `${campaign} (${run})` },
  };
  const notNow = (why: Part): Question => ({
    ...question,
    title: 'Send again: not possible now',
    body: html`<p>The run is ${badge(state)}. ${why}</p>`,
  });
  if (purgedAt !== null)
    return notNow(html`It was purged at ${time(purgedAt, view.zone)}: ${erasedWords.run}.`);
  // A form that was sent may be sent again: it opens the run that it started.
  const isNew = key === undefined;
  if (isNew && state === 'running')
    return notNow('It is being sent. Wait until it is completed, or pause it.');
  const { recipients } = await limits.page(() => requireSummary(view.context, run));
  const counts = states
    .filter((each) => recipients[each] > 0)
    .map((each) => [each, recipients[each]] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (isNew && total === 0) return notNow(`No recipient of it is ${states.join(' or ')}.`);
  return {
    ...question,
    body: html`${keyField(view, key)}
<p>A new run sends the same messages to <strong>${count(total, 'recipient')}</strong>: ${counts.map(([each, count]) => `${groupThousands(count)} ${each}`).join(', ')}. Suppressed addresses are left out, and so are recipients of an earlier rerun.</p>
${states.includes('unknown') && html`<p>Recipients whose state is unknown may have the message already, and then get it <strong>twice</strong>.</p>`}
<p>Today's rates and the budget of the campaign apply.</p>`,
    button: 'Send again',
  };
}

/** `failed` is also what the service rejected, as a person means it. */
function statesIn(query: Fields): readonly RerunState[] {
  const named = textsIn(query, 'only');
  const states = rerunStates.filter(
    (state) => named.includes(state) || (state === 'rejected' && named.includes('failed')),
  );
  return states.length > 0 ? states : refuse('only', `Expected one of ${rerunStates.join(', ')}.`);
}
