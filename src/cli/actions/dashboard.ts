import { once } from 'node:events';
import { closeAfter } from '../../platform/close-after.ts';
import { openLogger } from '../../platform/logger.ts';
import { accountLoader } from '../account-loader.ts';
import { openInBrowser, showOwnDashboard } from '../own-dashboard.ts';
import { openPlanner } from '../planner/planner.ts';
import { type Shell, withLedger } from '../shell.ts';

export type DashboardFlags = {
  readonly port: number;
  readonly open: boolean;
  readonly campaigns: string;
};

export async function dashboardAction(
  shell: Shell,
  { port, open, campaigns: folder }: DashboardFlags,
): Promise<void> {
  const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'warn');
  await withLedger(shell, (context) =>
    closeAfter(async (defer) => {
      shell.drainOnStop(() => 'Open pages are answered.');
      const planner = openPlanner(context, shell.settings, folder, logger);
      defer(planner.close);
      const scheduleSource = { folder, settings: shell.settings, accountNamed: accountLoader(shell) };
      const { startRun } = planner;
      const address = await showOwnDashboard(
        shell,
        context,
        { port, scheduleSource, startRun, logger },
        defer,
      );
      shell.note(`Dashboard: ${new URL('/', address)}`);
      shell.note(`This address signs you in, once and within ten minutes: ${address}`);
      shell.note('It sends nothing itself: volley run, volley worker and volley serve do. Ctrl-C ends it.');
      const failed = (): void => shell.note('No browser was opened. Open the address above in yours.');
      if (open) openInBrowser(address, failed, defer);
      if (!shell.stop.aborted) await once(shell.stop, 'abort');
    }),
  );
}
