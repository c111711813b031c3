import { z } from 'zod';
import { formats, interfaceNames } from '../domain/message.ts';
import { duration, rateLimit, text, wholeNumber } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { plainHttpPolicies } from '../wire/loopback.ts';
import { maxPatternLength, ttsReturnProblem } from '../wire/tts-return.ts';
import { rates, ratesTimeZone } from './rate-card.ts';
import { receiverSettings, webhookTokens } from './receiver-settings.ts';
import { checkSharing } from './sharing-rules.ts';

const timeouts = z
  .strictObject({
    connect: duration.prefault('5s').describe('Until the connection is open.'),
    headers: duration.prefault('30s').describe('From the request to the first line of the answer.'),
    body: duration.prefault('30s').describe('From the first line of the answer to its end.'),
  })
  .prefault({})
  .describe('How long to wait for the service, such as 500ms, 5s or 2m.');

function maxPerSecond(what: string) {
  return rateLimit
    .optional()
    .describe(
      `The most ${what} a second through this account, over all workers, such as 50 or 0.5; by default no limit.`,
    );
}

const limits = z
  .strictObject({
    concurrency: wholeNumber(1, 256, 16).describe(
      'The most requests in flight at once through this account, over all workers.',
    ),
    requestsPerSecond: maxPerSecond('requests'),
    recipientsPerSecond: maxPerSecond('recipients'),
  })
  .prefault({})
  .describe('How much may be sent through the account. Campaigns can set less.');

const ttsReturn = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .max(maxPatternLength)
      .describe(
        'A regular expression, in any case, for the whole text, such as `Accepted as ([0-9A-Z]+)`. It repeats no group, and has at most four of * + ? { and |.',
      ),
    number: wholeNumber(1, 20, 1).describe('Which ( ) of the pattern is the job number.'),
  })
  .superRefine(({ pattern, number }, issues) => {
    const message = ttsReturnProblem(pattern, number);
    if (message !== undefined) issues.addIssue({ code: 'custom', message, path: ['pattern'] });
  })
  .optional()
  .describe(
    'soap-tts: the text of `ttsReturn` with which the service accepts a message, beside `Job <number>`. Other texts leave the request in doubt.',
  );

const allow = z
  .record(z.string(), z.array(z.union([text, z.literal('')])).min(1, 'expected at least one value'))
  .optional()
  .describe(
    'Values of message fields that this service accepts beyond the observed ones, such as { Resolution: [Fine], RetryAttempts: [6-9], NumberOfOperators: [0], SendMode: [Test] }. { EmailSubject: [""] } allows emails without a subject.',
  );

const account = z.strictObject({
  interface: z.enum(interfaceNames).describe('The interface of the service that this account uses.'),
  format: z
    .enum(formats)
    .optional()
    .describe('The format of requests: json by default, always xml for soap-tts.'),
  baseUrl: z
    .string()
    .describe(
      'The http(s) address of the service. It may contain ${NAME} or ${NAME:-default}. rest-2.02: /api/v2.03 or /api/v2.04 at its end selects that version.',
    )
    .meta({ writeOnly: true }),
  plainHttp: z
    .enum(plainHttpPolicies)
    .default('refused')
    .describe(
      'Whether "baseUrl" may be http:// on another machine. Credentials and messages then cross the network unencrypted.',
    ),
  certificates: z
    .enum(['checked', 'unchecked'])
    .default('checked')
    .describe(
      'Whether Volley may send although NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates.',
    ),
  authToken: secretReference
    .optional()
    .describe('rest-2.02: the token of the Authorization header, as ${NAME}.'),
  sender: text.optional().describe('rest-1.x and soap-tts: the user of the credential.'),
  apiKey: secretReference.optional().describe('rest-1.x: the key of the sender, as ${NAME}.'),
  token: secretReference.optional().describe('soap-tts: the token of the sender, as ${NAME}.'),
  ...webhookTokens,
  webhookOf: text
    .optional()
    .describe('Another account, whose webhook also receives the delivery reports of this one.'),
  suppressionsOf: text
    .optional()
    .describe('Another account with which this one shares its opt-outs; by default that of `webhookOf`.'),
  receiver: receiverSettings,
  timeouts,
  limits,
  statusLookUp: z
    .enum(['off', 'on'])
    .default('off')
    .describe('rest-2.02: whether the service has the status look-up, which settles requests in doubt.'),
  ttsReturn,
  allow,
  attachments: z
    .array(text)
    .min(1, 'expected at least one folder')
    .optional()
    .describe(
      "The folders of attachments, relative to each campaign's folder, where the campaign names none. By default documents.",
    ),
  rates,
  ratesTimeZone,
});

export const accountsSchema = z
  .strictObject({
    accounts: z
      .record(z.string().max(100, 'expected a name of at most 100 characters'), account)
      .superRefine(checkSharing)
      .describe('The accounts, by the name that campaigns use.'),
  })
  .meta({ title: 'Volley accounts' });

export function accountsJsonSchema(): unknown {
  return z.toJSONSchema(accountsSchema, { io: 'input' });
}
