import { once } from 'node:events';
import { defineCommand, flag } from '../command.ts';
import { campaignsFolder, campaignsOption, portOption } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description: 'Shows the ledger in a browser on this machine, and signs you in.',
  details: `Only this machine can reach it. The command makes a token of scope admin for you, revokes it when it ends, and both are in the
audit trail. For other people and machines, run volley serve, which has the same dashboard.`,
  options: [portOption(0), flag('--no-open', 'only print the address, and open no browser'), campaignsOption],
  examples: [
    ['volley dashboard', 'look at your runs in a browser'],
    ['volley dashboard --no-open --port 8030', 'on a server, through ssh -L 8030:127.0.0.1:8030'],
  ],
  run: async (shell, _, { port, open, campaigns: folder = campaignsFolder(shell) }) => {
    const { closeAfter } = await import('../../platform/close-after.ts');
    const { openLogger } = await import('../../platform/logger.ts');
    const { openInBrowser, openPagesText, showOwnDashboard, signInText } = await import(
      '../serving/own-dashboard.ts'
    );
    const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'warn');
    await withLedger(shell, (context) =>
      closeAfter(async (defer) => {
        shell.drainOnStop(() => openPagesText);
        const address = await showOwnDashboard(shell, context, { port, folder, logger }, defer);
        shell.note(`Dashboard: ${new URL('/', address)}`);
        shell.note(`${signInText} ${address}`);
        shell.note('It sends nothing itself: volley run, volley worker and volley serve do. Ctrl-C ends it.');
        const failed = (): void => shell.note('No browser was opened. Open the address above in yours.');
        if (open) openInBrowser(address, failed, defer);
        if (!shell.stop.aborted) await once(shell.stop, 'abort');
      }),
    );
  },
});
