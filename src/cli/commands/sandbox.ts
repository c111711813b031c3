import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { deliveryReportFormats } from '../../domain/delivery-reports.ts';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { deliveryReportIds, type SandboxOptions, type UndeliveredAt } from '../../sandbox/options.ts';
import { defineCommand, flag, type OptionValues, option } from '../command.ts';
import { loadDurationReader, loadSpeedReader, parseShare, parseWholeNumber } from '../option-readers.ts';
import { portOption } from '../options.ts';
import type { Shell } from '../shell.ts';

const webhookOptions = [
  option('--webhook-url <url>', 'target of delivery reports (default: none are sent)'),
  option('--webhook-token-file <file>', 'file with the token for {token} in --webhook-url'),
  option('--webhook-format <format>', 'format of delivery reports: form fields (post), query string (get)', {
    choices: deliveryReportFormats,
    default: 'json',
  }),
  option('--webhook-id <id>', 'MessageID in delivery reports of SOAP: that, or the job number', {
    choices: deliveryReportIds,
    default: 'message',
  }),
  option('--webhook-sender <sender>', 'Sender in delivery reports; with --webhook-api-key'),
  option('--webhook-api-key <key>', 'APIKey in delivery reports; with --webhook-sender'),
  option('--webhook-retry <duration>', 'time until a delivery report without a 2xx answer is repeated', {
    loadReader: loadDurationReader,
    default: 300_000,
    defaultText: '5m',
  }),
] as const;

type WebhookFlags = OptionValues<typeof webhookOptions>;

export const command = defineCommand({
  description: 'Starts a sandbox of the messaging service on this machine, which delivers nothing.',
  details: `All interfaces have the same port, so the printed address is the baseUrl of any account:
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
More: docs/reference/sandbox.md`,
  options: [
    option('--host <address>', 'address that it listens on', { default: '127.0.0.1' }),
    portOption(8025),
    option('--journal <file>', 'append every request to this file, one JSON object a line'),
    option('--token <token>', 'the only token or API key that it accepts (default: any)'),
    ...webhookOptions,
    option('--latency <duration>', 'time before every answer', {
      loadReader: loadDurationReader,
      default: 0,
      defaultText: '0s',
    }),
    option('--fail-rate <share>', 'share of requests answered 500, from 0 to 1', {
      read: parseShare,
      default: 0,
    }),
    option('--undelivered-rate <share>', 'share of recipients reported undelivered', {
      read: parseShare,
      default: 0,
    }),
    option(
      '--undelivered-at <place=share>',
      'another share for numbers that begin with this, or e-mail addresses that end with it',
      { read: readUndeliveredAt },
    ),
    option('--reply-rate <share>', 'share of delivered SMS that their recipients answer', {
      read: parseShare,
      default: 0,
    }),
    flag('--lenient', 'accept values that the interface forbids'),
    option('--clock-speed <factor>', 'speed of its clock', { loadReader: loadSpeedReader, default: 1 }),
    option('--delivery-delay <duration>', 'time from acceptance to the delivery reports', {
      loadReader: loadDurationReader,
      default: 0,
      defaultText: '0s',
    }),
    option('--seed <number>', 'the same seed gives the same results', {
      read: parseWholeNumber,
      default: 1,
    }),
  ],
  examples: [['volley sandbox --journal requests.jsonl', 'start a service to test against']],
  run: async (shell, _, flags) => {
    const { startSandbox } = await import('../../sandbox/sandbox.ts');
    const sandbox = await startSandbox({
      ...flags,
      // For messages without a TimeZone.
      timeZone: shell.timeZone ?? 'UTC',
      ...webhookOf({ ...flags, ...withToken(shell, flags) }),
    });
    shell.note(`Sandbox listens on ${sandbox.url}`);
    shell.drainOnStop(() => 'The sandbox answers the open calls.');
    if (!shell.stop.aborted) await once(shell.stop, 'abort');
    await sandbox.close();
  },
});

/** Reads `+61412=0.4`; the option can be repeated. */
function readUndeliveredAt(text: string, before: readonly UndeliveredAt[] = []): readonly UndeliveredAt[] {
  const [, at, rate] = /^([^=]+)=([^=]+)$/.exec(text) ?? [];
  if (at === undefined || rate === undefined)
    throw new InvalidArgumentError('expected a place and a share, such as +61412=0.4 or @example.com=0.4.');
  return [...before, { at, rate: parseShare(rate) }];
}

/** @throws InputError if the file cannot be read, or the address has no place for its token */
function withToken(
  { settings }: Shell,
  { webhookUrl, webhookTokenFile: file }: WebhookFlags,
): Pick<WebhookFlags, 'webhookUrl'> {
  if (file === undefined) return {};
  const refuse = (what: string): never => {
    throw new InputError([{ where: '--webhook-token-file', what }]);
  };
  if (!webhookUrl?.includes('{token}')) return refuse('Expected --webhook-url with {token} in it.');
  try {
    const token = readFileSync(resolve(settings.workingFolder, file), 'utf8').trim();
    return { webhookUrl: webhookUrl.replace('{token}', encodeURIComponent(token)) };
  } catch (error) {
    return refuse(`The file ${file} cannot be read (${unreadableReason(error, file)}).`);
  }
}

function webhookOf(flags: WebhookFlags): Pick<SandboxOptions, 'webhook'> {
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
