import { type Command, Option } from 'commander';
import { deliveryReportFormats } from '../../domain/delivery-reports.ts';
import { deliveryReportIds } from '../../sandbox/options.ts';
import type { SandboxFlags } from '../actions/sandbox.ts';
import { durationReader, lateOption, timeZoneOption } from '../late-options.ts';
import { parsePort, parseShare, parseWholeNumber } from '../options.ts';
import type { Shell } from '../shell.ts';

const interfaces = `
All interfaces have the same port, so the printed address is the baseUrl of any account:
  POST /api/v2.02/send/{email|sms|fax}     version 2.02, JSON or XML
  POST /api/v2.04/send/{…|tts|voice}       versions 2.03 and 2.04, with calls; a baseUrl may end with /api/v2.04
  POST /api/json/send/, /api/xml/send/     versions 1.02 and 1.04: email, sms, fax, voice, text-to-speech
  POST any other path                      text-to-speech by SOAP; GET it with ?wsdl for its description
  GET  /api/v2.02/get/status/{MessageID}   state of a message; also v2.03 and v2.04
  GET  /api/v2.04/get/sms/reply/{MessageID}, /get/sms/received     replies of recipients (--reply-rate)
  PATCH /api/v2.04/set/{abort|reschedule|resubmit|pacing}/{MessageID}

The sandbox refuses missing values, and values that the interface's document forbids; --lenient accepts the latter. A
message waits for its SendTime, by the clock of --clock-speed. A message with SendMode Test is reported as delivered at no
charge. WebhookCallbackURL and WebhookCallbackFormat of a request work only with --webhook-url. Rates and results depend on
the seed, the MessageID and the address only, so a repetition gives the same results. The journal contains no token or key.
More: docs/reference/sandbox.md`;

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command
    .description(
      'Starts a sandbox of the messaging service on this machine, which follows the interface and delivers nothing.',
    )
    .option('--host <address>', 'address that it listens on', '127.0.0.1')
    .option('--port <number>', 'port that it listens on; 0: any free port', parsePort, 8025)
    .option('--journal <file>', 'append every received request to this file, one JSON object a line')
    .option('--token <token>', 'the only token or API key that it accepts (default: any)');
  await addWebhookOptions(command, words);
  command
    .addOption(
      await durationOption(words, {
        flags: '--latency <duration>',
        description: 'time before every answer',
        milliseconds: 0,
        shown: '0s',
      }),
    )
    .option('--fail-rate <share>', 'share of requests answered 500, from 0 to 1', parseShare, 0)
    .option('--undelivered-rate <share>', 'share of recipients reported undelivered', parseShare, 0)
    .option('--reply-rate <share>', 'share of delivered SMS that their recipients answer', parseShare, 0)
    .option('--lenient', 'accept values that the document of the interface forbids', false)
    .addOption(
      (
        await lateOption(
          words,
          '--clock-speed <factor>',
          'speed of its clock, for SendTime, --delivery-delay and --webhook-retry',
          speedReader,
        )
      ).default(1),
    )
    .addOption(
      (await timeZoneOption(words, "the sender's time zone, for messages without a TimeZone")).default('UTC'),
    )
    .addOption(
      await durationOption(words, {
        flags: '--delivery-delay <duration>',
        description: 'time from acceptance to the delivery reports',
        milliseconds: 0,
        shown: '0s',
      }),
    )
    .option(
      '--seed <number>',
      'seed of the results; the same seed gives the same results',
      parseWholeNumber,
      1,
    )
    .addHelpText('after', interfaces)
    .action(async (flags: SandboxFlags) => {
      const { sandboxAction } = await import('../actions/sandbox.ts');
      await sandboxAction(shell, flags);
    });
}

async function addWebhookOptions(command: Command, words: readonly string[]): Promise<void> {
  command
    .option('--webhook-url <url>', 'target of delivery reports (default: none are sent)')
    .option(
      '--webhook-token-file <file>',
      'file with the token for {token} in --webhook-url, which a list of processes then does not show',
    )
    .addOption(
      new Option(
        '--webhook-format <format>',
        'format of delivery reports: json, xml, form fields (post) or a query string (get)',
      )
        .choices(deliveryReportFormats)
        .default('json'),
    )
    .addOption(
      new Option(
        '--webhook-id <id>',
        'MessageID in delivery reports of SOAP: the one of the message, or the job number of its answer',
      )
        .choices(deliveryReportIds)
        .default('message'),
    )
    .option('--webhook-sender <sender>', 'Sender in delivery reports; with --webhook-api-key')
    .option('--webhook-api-key <key>', 'APIKey in delivery reports; with --webhook-sender')
    .addOption(
      await durationOption(words, {
        flags: '--webhook-retry <duration>',
        description: 'time before a delivery report without a 2xx answer is sent again',
        milliseconds: 300_000,
        shown: '5m',
      }),
    );
}

/** @param shown the default as the user would write it */
async function durationOption(
  words: readonly string[],
  {
    flags,
    description,
    milliseconds,
    shown,
  }: {
    readonly flags: string;
    readonly description: string;
    readonly milliseconds: number;
    readonly shown: string;
  },
): Promise<Option> {
  return (await lateOption(words, flags, description, durationReader)).default(milliseconds, shown);
}

const speedReader = async () => (await import('../scalar-options.ts')).parseSpeed;
