import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { type Format, formats } from '../../domain.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { parseDuration, parsePort, parseShare, parseWholeNumber } from '../options.ts';
import type { Shell } from '../shell.ts';

type SandboxFlags = {
  readonly host: string;
  readonly port: number;
  readonly journal?: string;
  readonly token?: string;
  readonly webhookUrl?: string;
  readonly webhookFormat: Format;
  readonly latency: number;
  readonly failRate: number;
  readonly undeliveredRate: number;
  readonly deliveryDelay: number;
  readonly webhookRetry: number;
  readonly seed: number;
};

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'The messaging service itself, as its interface describes it, on this machine. It delivers to nobody.',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 8025)
    .option('--journal <file>', 'append every request received, one JSON object a line')
    .option('--token <token>', 'the only token to take; without it, any')
    .option('--webhook-url <url>', 'where delivery reports go; without it, none are sent')
    .addOption(
      new Option('--webhook-format <format>', 'what delivery reports are written in')
        .choices(formats)
        .default('json'),
    )
    .option('--latency <duration>', 'wait before every answer', parseDuration, 0)
    .option('--fail-rate <share>', 'share of requests answered 500, from 0 to 1', parseShare, 0)
    .option('--undelivered-rate <share>', 'share of recipients reported undelivered', parseShare, 0)
    .option('--delivery-delay <duration>', 'from acceptance to the delivery reports', parseDuration, 0)
    .option(
      '--webhook-retry <duration>',
      'wait before a report that was not taken is sent again',
      parseDuration,
      300_000,
    )
    .option('--seed <number>', 'the same seed gives the same deliveries', parseWholeNumber, 1)
    .action(async ({ webhookUrl, webhookFormat, ...flags }: SandboxFlags) => {
      const sandbox = await startSandbox({
        ...flags,
        ...(webhookUrl ? { webhook: { url: webhookUrl, format: webhookFormat } } : {}),
      });
      shell.note(`Sandbox listens on ${sandbox.url}`);
      shell.drainable();
      if (!shell.stop.aborted) await once(shell.stop, 'abort');
      await sandbox.close();
    });
}
