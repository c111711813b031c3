import { once } from 'node:events';
import type { Command } from 'commander';
import { InputError } from '../../domain.ts';
import { keepPolling, usualPolling } from '../../engine/keep-polling.ts';
import { pollableAccounts, receiverAccounts } from '../../engine/receivers.ts';
import { openReportStore } from '../../engine/report-store.ts';
import { openLogger } from '../../platform/logger.ts';
import { startReceiver } from '../../server/receiver.ts';
import { parsePort } from '../options.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Receives delivery reports for every account with a webhookToken, until it is stopped.')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 8026)
    .action(async ({ host, port }: { host: string; port: number }) => {
      const { environment } = shell.settings;
      const publicUrl = readPublicUrl(environment['VOLLEY_PUBLIC_URL']);
      const accounts = await receiverAccounts(shell.settings);
      const logger = openLogger(environment['LOG_LEVEL'], 'info');
      await withLedger(shell, async (context) => {
        shell.drainable();
        const receiver = await startReceiver(context, {
          ...{ host, port, accounts, logger },
          store: openReportStore(context).keep,
        });
        for (const account of accounts.keys()) {
          const path = `/webhook/${encodeURIComponent(account)}/<its webhookToken>`;
          shell.note(`Reports of account ${account}: POST ${publicUrl ?? receiver.url}${path}`);
        }
        const { accounts: pollable, problems } = await pollableAccounts(shell.settings, accounts.keys());
        for (const { name } of pollable)
          shell.note(`Missing reports of account ${name} are asked for, from five minutes to six hours on.`);
        for (const problem of problems) logger.warn({ problem }, 'missing reports cannot be asked for');
        const polling = keepPolling(context, pollable, usualPolling, receiver.wake, logger, shell.stop);
        if (!shell.stop.aborted) await once(shell.stop, 'abort');
        await polling;
        await receiver.close();
      });
    });
}

/**
 * The address that the receiver is reached at from outside, without a trailing slash.
 *
 * @throws InputError for what is none
 */
function readPublicUrl(written: string | undefined): string | undefined {
  if (!written) return undefined;
  const url = URL.parse(written);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === null || !/^https?:$/.test(url.protocol) || !isPlain) {
    // Not shown: it may hold a password.
    const what = 'expected an http:// or https:// address without user, password, query and fragment';
    throw new InputError([{ where: 'VOLLEY_PUBLIC_URL', what }]);
  }
  return written.replace(/\/+$/, '');
}
