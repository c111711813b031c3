import { once } from 'node:events';
import type { Command } from 'commander';
import { receiverTokens } from '../../engine/receivers.ts';
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
      const tokens = await receiverTokens(shell.settings);
      const { environment } = shell.settings;
      const logger = openLogger(environment['LOG_LEVEL'], 'info');
      await withLedger(shell, async (context) => {
        const receiver = await startReceiver(context, { host, port, tokens, logger });
        const publicUrl = environment['VOLLEY_PUBLIC_URL']?.replace(/\/+$/, '') || receiver.url;
        for (const account of tokens.keys()) {
          shell.note(
            `Reports of account ${account}: POST ${publicUrl}/webhook/${account}/<its webhookToken>`,
          );
        }
        shell.drainable();
        if (!shell.stop.aborted) await once(shell.stop, 'abort');
        await receiver.close();
      });
    });
}
