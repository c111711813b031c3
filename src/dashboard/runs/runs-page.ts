import type { FastifyInstance } from 'fastify';
import { listAccountLimits } from '../../engine/dispatch/account-limits.ts';
import { createLiveRunLists, type LiveRunList } from '../../engine/live/run-list.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import type { Asked, View } from '../base/view.ts';
import { addressOf, filterForm, readQuestion, toFilter } from './filter.ts';
import { runsPart, type ShownRuns } from './runs-part.ts';

/** The start page: runs that wait for a person, then all, the newest first. */
export function addRunsPage(server: FastifyInstance, { context, live, scheduleSource }: Tools): void {
  const lists = createLiveRunLists(context);
  const read = async ({ session: { accounts }, zone }: View, { query }: Asked): Promise<ShownRuns> => {
    const question = readQuestion(query);
    const list: LiveRunList = await lists.read(toFilter(question, { accounts, zone }));
    return { question, list };
  };
  const accountNames = async ({ session: { accounts } }: View): Promise<readonly string[]> =>
    accounts ??
    // Without the accounts file, a person can still write a name.
    (await listAccountLimits(context, scheduleSource.settings).catch(() => [])).map(({ account }) => account);
  server.get('/runs', async (_, reply) => reply.redirect('/'));
  addPage(server, { path: '/', scope: 'read' }, async (view, asked) => {
    const question = readQuestion(asked.query);
    return {
      title: 'Runs',
      body: filterForm(question, await accountNames(view)),
      live: { body: runsPart(await read(view, asked), view), from: addressOf('/runs/live', question) },
    };
  });
  live.add(
    server,
    { path: '/runs/live', scope: 'read' },
    {
      open: async (view, asked) => ({
        key: JSON.stringify(['runs', view.session.accounts, view.zone, readQuestion(asked.query)]),
        read: () => read(view, asked),
      }),
      render: runsPart,
    },
  );
}
