import type { FastifyInstance } from 'fastify';
import { listAccountLimits } from '../../engine/dispatch/account-limits.ts';
import { createLiveRunLists } from '../../engine/live/run-list.ts';
import { html } from '../../report/html/html.ts';
import { toRunFilter } from '../../report/questions.ts';
import { findVisibleRun } from '../../server/api/call.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { filterForm, readAsked } from '../parts/filter.ts';
import { runFilter, runsPart } from './runs-part.ts';

/** The start page: runs that wait for a person, then all, the newest first. */
export function addRunsPage(server: FastifyInstance, { context, live, campaignSource }: Tools): void {
  const lists = createLiveRunLists(context);
  const accountNames = async ({ session: { accounts } }: View): Promise<readonly string[]> =>
    accounts ??
    // Without the accounts file, a person can still write a name.
    (await listAccountLimits(context, campaignSource.settings).catch(() => [])).map(({ account }) => account);
  server.get('/runs', async (_, reply) => reply.redirect('/'));
  live.addPage(server, {
    path: '/',
    scope: 'read',
    stream: '/runs/live',
    open: async ({ context: own, session, zone }, { query }) => {
      const asked = readAsked(runFilter, query);
      const { accounts } = session;
      const { before: last } = asked;
      const before =
        last === undefined ? undefined : await findVisibleRun({ context: own, token: session }, last);
      const filter = { ...toRunFilter(asked, zone), before, accounts };
      return {
        key: JSON.stringify(['runs', accounts, zone, asked]),
        read: async () => ({ asked, list: await lists.read(filter) }),
      };
    },
    render: runsPart,
    around: async ({ asked: { campaign } }, view, { query }) => ({
      title: 'Runs',
      body: html`${filterForm(runFilter, query, { account: await accountNames(view) })}
${campaign !== undefined && html`<p>Only runs of the campaign <bdi>${campaign}</bdi>.</p>`}`,
    }),
  });
}
