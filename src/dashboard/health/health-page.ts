import type { FastifyInstance } from 'fastify';
import { isForAccount } from '../../engine/access/tokens.ts';
import { createHealthChecks } from '../../engine/doctor/health.ts';
import { checkDatabase, readFleetFigures } from '../../engine/reporting/fleet-state.ts';
import { listWorkers } from '../../ledger/operations/workers.ts';
import { html } from '../../report/html/html.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { type Checked, type Health, healthPart } from './health-part.ts';

const maxWorkers = 500;

/** Which workers are alive, what each holds, and what `volley doctor` finds in the ledger. */
export function addHealthPage(server: FastifyInstance, { context, live, scheduleSource }: Tools): void {
  const { settings, folder } = scheduleSource;
  const readChecks = createHealthChecks(context, settings, folder);
  const readFleet = async (): Promise<Checked> => ({
    ...(await readChecks()),
    figures: await readFleetFigures(context).catch(() => undefined),
  });
  const read = async (accounts: readonly string[] | null): Promise<Health> => {
    const workers = await listWorkers(context.ledger.monitoring, maxWorkers);
    return {
      // What a worker holds of other accounts is counted, and not named.
      workers: workers.map((one) =>
        one.account === null || isForAccount({ accounts }, one.account) ? one : { ...one, run: null },
      ),
      database: await checkDatabase(context),
      fleet: accounts === null ? await readFleet() : undefined,
    };
  };
  addPage(server, { path: '/health', scope: 'read' }, async (view) => ({
    title: 'Health',
    body: html`<p>What the ledger knows of its processes. <code>volley doctor</code> also checks accounts, the service and the receiver from the machine where it runs.</p>`,
    live: { body: healthPart(await read(view.session.accounts), view), from: '/health/live' },
  }));
  live.add(
    server,
    { path: '/health/live', scope: 'read' },
    {
      open: async ({ session: { accounts } }) => ({
        key: JSON.stringify(['health', accounts]),
        read: () => read(accounts),
      }),
      render: healthPart,
    },
  );
}
