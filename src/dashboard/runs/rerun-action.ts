import type { FastifyInstance } from 'fastify';
import { type RerunState, rerunStates } from '../../domain/runs.ts';
import { rerunByKey, startOnce } from '../../engine/access/start-by-key.ts';
import { planOfRerun } from '../../engine/plan/rerun-plan.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { html } from '../../report/html/html.ts';
import { type Fields, numberIn, textsIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun } from '../base/view.ts';
import { recipientOfRunPath, runPath } from '../paths.ts';
import { addStartPage } from '../plan/start-page.ts';

/** Sends the same messages again, to recipients in the states that the address names: once for each plan. */
export function addRerun(server: FastifyInstance, tools: Tools): void {
  const { accountNamed } = tools.campaignSource;
  addStartPage(server, tools, {
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
