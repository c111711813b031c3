import { comparedAddress } from '../../domain/compared-address.ts';
import {
  requireSuppressionAccount,
  suppressAddresses,
} from '../../engine/suppressions/suppress-addresses.ts';
import { type DeliveryResult, listDeliveryResults } from '../../ledger/counts/groups.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { listRecipients } from '../../ledger/runs/list-recipients.ts';
import { count } from '../../platform/sentence.ts';
import { html } from '../../report/html/html.ts';
import { wordsOf } from '../../report/lists/usual.ts';
import { textIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, requireVisibleRun, type View } from '../base/view.ts';
import { runPath } from '../paths.ts';

/** More are suppressed from a file (`volley suppress import`). */
const maxSuppressed = 10_000;

/** Suppresses the undelivered recipients of a run that have one cause in common, for its account and channel. */
export function addSuppressUndelivered({ addAction, campaignSource: { settings } }: Tools): void {
  addAction({
    path: '/runs/:run/recipients/suppress',
    scope: 'run',
    ask: async (view, asked) => {
      const { run, recipients, result, within } = await requireCause(view, asked);
      return {
        title: `Suppress undelivered recipients of ${run.campaign}`,
        within,
        body: html`<p>No run of the account <bdi>${run.account}</bdi> will send ${run.channel} to <strong>${count(recipients, 'recipient')}</strong> of run <code>${run.run}</code> any more: those that are undelivered with the words <q dir="auto">${wordsOf(result)}</q>. A number that does not exist stays so; a phone that was off is on again tomorrow.</p>
<input type="hidden" name="confirmed" value="${recipients}">`,
        button: 'Suppress them',
      };
    },
    act: async (view, asked, { confirmed = '', reason = '' }) => {
      const { run, group, within } = await requireCause(view, asked);
      const { context } = view;
      const wanted = { run: run.run, states: ['undelivered'], group } as const;
      const found = await listRecipients(context.ledger.pool, wanted, { limit: maxSuppressed });
      if (found.length !== Number(confirmed)) {
        const now = `It concerns ${count(found.length, 'recipient')} now, not ${confirmed}.`;
        refuse(`run ${run.run}`, `${now} Look again before you suppress them.`);
      }
      const of = {
        channel: run.channel,
        account: await requireSuppressionAccount(run.account, settings),
        subAccount: '',
      };
      const keys = found.flatMap(({ address }) =>
        address === null ? [] : [{ ...of, address: comparedAddress(address) }],
      );
      const added = await suppressAddresses(context, keys, reason, run.run);
      return { to: within.href, notice: `${count(added, 'recipient')} of ${keys.length} newly suppressed.` };
    },
  });
}

type CauseOfRun = DeliveryResult & { readonly run: Run; readonly within: { href: string; text: string } };

/** @throws ProblemError for a cause that the run does not have; InputError where nothing can be suppressed */
async function requireCause(view: View, asked: Asked): Promise<CauseOfRun> {
  const run = await requireVisibleRun(view, asked);
  const group = textIn(asked.query, 'cause');
  const results = await listDeliveryResults(view.context.ledger.pool, run.run);
  const cause = results.find((each) => each.outcome === 'undelivered' && each.group === group);
  if (!cause || group === '') return notFound('No undelivered recipient of the run has this cause.');
  if (run.kind === 'test') refuse(`run ${run.run}`, 'A test has addresses of the operator only.');
  if (run.purgedAt !== null) refuse(`run ${run.run}`, 'Its addresses are erased.');
  if (cause.recipients > maxSuppressed) {
    const what = `More than ${maxSuppressed} are suppressed from a file. Download the list, then import it.`;
    refuse(`run ${run.run}`, what);
  }
  const href = runPath(run.run, 'recipients', { state: 'undelivered', cause: group });
  return { ...cause, run, within: { href, text: `Undelivered recipients of ${run.campaign}` } };
}
