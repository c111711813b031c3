import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { type DeliveryReportId, deliveryReportIds, type SandboxOptions } from '../../sandbox/options.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { type DeliveryReportFormat, deliveryReportFormats } from '../../wire/encode-delivery-report.ts';
import { parsePort, parseShare, parseWholeNumber } from '../options.ts';
import { parseDuration, parseSpeed } from '../scalar-options.ts';
import type { Shell } from '../shell.ts';
import { parseTimeZone } from '../time-zone-option.ts';

type SandboxFlags = {
  readonly host: string;
  readonly port: number;
  readonly journal?: string;
  readonly token?: string;
  readonly webhookUrl?: string;
  readonly webhookFormat: DeliveryReportFormat;
  readonly webhookId: DeliveryReportId;
  readonly webhookSender?: string;
  readonly webhookApiKey?: string;
  readonly latency: number;
  readonly failRate: number;
  readonly undeliveredRate: number;
  readonly replyRate: number;
  readonly lenient: boolean;
  readonly clockSpeed: number;
  readonly timeZone: string;
  readonly deliveryDelay: number;
  readonly webhookRetry: number;
  readonly seed: number;
};

const interfaces = `
Every interface is on the one port, so the address it prints is the baseUrl of any account:
  POST /api/v2.02/send/{email|sms|fax}     version 2.02, JSON or XML
  POST /api/v2.04/send/{…|tts|voice}       versions 2.03 and 2.04, with calls; a baseUrl may end with /api/v2.04
  POST /api/json/send/, /api/xml/send/     versions 1.02 and 1.04: email, sms, fax, voice, text-to-speech
  POST any other path                      text-to-speech by SOAP; GET it with ?wsdl for its description
  GET  /api/v2.02/get/status/{MessageID}   what became of a message; also v2.03 and v2.04
  GET  /api/v2.04/get/sms/reply/{MessageID}, /get/sms/received     what recipients answered (--reply-rate)
  PATCH /api/v2.04/set/{abort|reschedule|resubmit|pacing}/{MessageID}

It refuses what is missing and what the interface's document forbids; --lenient takes the latter. A message waits for its
SendTime, by a clock that --clock-speed makes faster. One with SendMode Test is reported as delivered at no charge. A
request's own WebhookCallbackURL and WebhookCallbackFormat are followed only with --webhook-url. Rates and results are
drawn from the seed, the MessageID and the address, so a repetition gives the same. The journal never has a token or a key
in it. More: docs/sandbox.md`;

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'The messaging service itself, as its interface describes it, on this machine. It delivers to nobody.',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 8025)
    .option('--journal <file>', 'append every request received, one JSON object a line')
    .option('--token <token>', 'the only token or API key to take; without it, any')
    .option('--webhook-url <url>', 'where delivery reports go; without it, none are sent')
    .addOption(
      new Option(
        '--webhook-format <format>',
        'what delivery reports are written in: json, xml, form fields (post) or a query string (get)',
      )
        .choices(deliveryReportFormats)
        .default('json'),
    )
    .addOption(
      new Option(
        '--webhook-id <id>',
        'what delivery reports of SOAP give as their MessageID: that of the message, or the job number of its answer',
      )
        .choices(deliveryReportIds)
        .default('message'),
    )
    .option('--webhook-sender <sender>', 'Sender in delivery reports; with --webhook-api-key')
    .option('--webhook-api-key <key>', 'APIKey in delivery reports; with --webhook-sender')
    .addOption(durationOption('--latency <duration>', 'wait before every answer', 0, '0s'))
    .option('--fail-rate <share>', 'share of requests answered 500, from 0 to 1', parseShare, 0)
    .option('--undelivered-rate <share>', 'share of recipients reported undelivered', parseShare, 0)
    .option('--reply-rate <share>', 'share of recipients that an SMS reached who answer it', parseShare, 0)
    .option('--lenient', 'take values that the document forbids, as the service is said to', false)
    .option(
      '--clock-speed <factor>',
      'how many times as fast its clock runs, for SendTime, --delivery-delay and --webhook-retry',
      parseSpeed,
      1,
    )
    .option(
      '--time-zone <zone>',
      "the sender's own zone, for messages without a TimeZone",
      parseTimeZone,
      'UTC',
    )
    .addOption(
      durationOption('--delivery-delay <duration>', 'from acceptance to the delivery reports', 0, '0s'),
    )
    .addOption(
      durationOption(
        '--webhook-retry <duration>',
        'wait before a report that was not taken is sent again',
        300_000,
        '5m',
      ),
    )
    .option('--seed <number>', 'the same seed gives the same deliveries', parseWholeNumber, 1)
    .addHelpText('after', interfaces)
    .action(async (flags: SandboxFlags) => {
      const sandbox = await startSandbox({
        ...flags,
        ...webhookOf(flags),
      });
      shell.note(`Sandbox listens on ${sandbox.url}`);
      shell.drainOnStop(() => 'The sandbox answers the calls that have come in.');
      if (!shell.stop.aborted) await once(shell.stop, 'abort');
      await sandbox.close();
    });
}

function webhookOf(flags: SandboxFlags): Pick<SandboxOptions, 'webhook'> {
  const { webhookUrl: url, webhookFormat: format, webhookId: id } = flags;
  const { webhookSender: sender, webhookApiKey: apiKey } = flags;
  if ((sender === undefined) !== (apiKey === undefined)) {
    const what = 'Expected both --webhook-sender and --webhook-api-key, or neither.';
    throw new InputError([{ where: sender === undefined ? '--webhook-sender' : '--webhook-api-key', what }]);
  }
  if (!url) return {};
  const credentials = sender !== undefined && apiKey !== undefined ? { credentials: { sender, apiKey } } : {};
  return { webhook: { url, format, id, ...credentials } };
}

/** @param shown the default as a person writes it */
function durationOption(flags: string, description: string, milliseconds: number, shown: string): Option {
  return new Option(flags, description).argParser(parseDuration).default(milliseconds, shown);
}
