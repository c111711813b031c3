import type { FastifyInstance } from 'fastify';
import { listAccountLimits } from '../../engine/dispatch/account-limits.ts';
import { createLiveRunLists } from '../../engine/live/run-list.ts';
import { toRunFilter } from '../../report/questions.ts';
import { findVisibleRun } from '../../server/api/call.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { isAsked, readAsked } from '../parts/filter.ts';
import { runFilter, startPart } from './runs-part.ts';

/** The start page: what runs, what waits for a person, the last night, then all runs, the newest first. */
export function addRunsPage(
  server: FastifyInstance,
  { context, live, campaignSource, healthChecks }: Tools,
): void {
  const readList = createLiveRunLists(context);
  const accountNames = async ({ session: { accounts } }: View): Promise<readonly string[]> =>
    accounts ??
    // Without the accounts file, a person can still write a name.
    (await listAccountLimits(context, campaignSource.settings).catch(() => [])).map(({ account }) => account);
  server.get('/runs', async (_, reply) => reply.redirect('/'));
  live.addPage(server, {
    path: '/',
    scope: 'read',
    stream: '/runs/live',
    open: async (view, { query }) => {
      const { context: own, session, zone } = view;
      const asked = readAsked(runFilter, query);
      const { accounts } = session;
      const { before: last } = asked;
      const before =
        last === undefined ? undefined : await findVisibleRun({ context: own, token: session }, last);
      const filter = { ...toRunFilter(asked, zone), before, accounts };
      const offered = await accountNames(view);
      const isWhole = !isAsked(runFilter, asked) && before === undefined;
      return {
        key: JSON.stringify(['runs', accounts, zone, query, offered]),
        read: async () => {
          const list = await readList(filter, isWhole ? zone : undefined);
          const checks = accounts === null ? healthChecks.latest()?.checks : [];
          return { asked, query, accounts: offered, list, checks };
        },
      };
    },
    render: startPart,
    around: () => ({ title: 'Runs' }),
  });
}
