import type { FastifyInstance } from 'fastify';
import { listAccountLimits } from '../../engine/dispatch/account-limits.ts';
import { createLiveRunLists } from '../../engine/live/run-list.ts';
import { html } from '../../report/html/html.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { type Asked, filterForm } from '../parts/filter.ts';
import { pathWith } from '../paths.ts';
import { askedOfRuns, runFilter, toRunFilter } from './run-filter.ts';
import { runsPart, type ShownRuns } from './runs-part.ts';

/** The start page: runs that wait for a person, then all, the newest first. */
export function addRunsPage(server: FastifyInstance, { context, live, scheduleSource }: Tools): void {
  const lists = createLiveRunLists(context);
  const read = async (view: View, asked: Asked): Promise<ShownRuns> => ({
    asked,
    list: await lists.read(toRunFilter(asked, view)),
  });
  const accountNames = async ({ session: { accounts } }: View): Promise<readonly string[]> =>
    accounts ??
    // Without the accounts file, a person can still write a name.
    (await listAccountLimits(context, scheduleSource.settings).catch(() => [])).map(({ account }) => account);
  server.get('/runs', async (_, reply) => reply.redirect('/'));
  addPage(server, { path: '/', scope: 'read' }, async (view, { query }) => {
    const asked = askedOfRuns(query);
    const { campaign } = asked;
    return {
      title: 'Runs',
      body: html`${filterForm(runFilter, asked, { account: await accountNames(view) })}
${campaign !== undefined && html`<p>Only runs of the campaign <bdi>${campaign}</bdi>.</p>`}`,
      live: { body: runsPart(await read(view, asked), view), from: pathWith('/runs/live', asked) },
    };
  });
  live.add(
    server,
    { path: '/runs/live', scope: 'read' },
    {
      open: async (view, { query }) => {
        const asked = askedOfRuns(query);
        return {
          key: JSON.stringify(['runs', view.session.accounts, view.zone, asked]),
          read: () => read(view, asked),
        };
      },
      render: runsPart,
    },
  );
}
