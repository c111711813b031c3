import { z } from 'zod';
import { formats, interfaceNames } from '../domain/message.ts';
import { plainHttpPolicies } from '../platform/address-list.ts';
import { duration, rateLimit, requiredNumber, text, wholeNumber } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { maxPatternLength, ttsReturnProblem } from '../wire/tts-return.ts';
import { checkChannels, frequency } from './caps.ts';
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
  return rateLimit.optional().describe(`The most ${what} a second, such as 50 or 0.5; by default no limit.`);
}

const limits = z
  .strictObject({
    concurrency: wholeNumber(1, 256, 16).describe('Requests in flight.'),
    requestsPerSecond: maxPerSecond('requests'),
    recipientsPerSecond: maxPerSecond('recipients'),
    recipientsPerDay: requiredNumber(1, 999_999_999)
      .optional()
      .describe(
        'The most recipients in a day of `ratesTimeZone`, with those of planned runs. Other contacts are left out.',
      ),
    confirmAboveRecipients: wholeNumber(0, 999_999_999, 10_000).describe(
      'A person who starts a run with more recipients in the dashboard types their number.',
    ),
  })
  .prefault({})
  .describe('The most of all workers together. Campaigns can set less.');

const ttsReturn = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .max(maxPatternLength)
      .describe(
        'A regular expression for the whole text, such as `Accepted as ([0-9A-Z]+)`; at most four of * + ? { and |.',
      ),
    number: wholeNumber(1, 20, 1).describe('Which ( ) of the pattern is the job number.'),
  })
  .superRefine(({ pattern, number }, issues) => {
    const message = ttsReturnProblem(pattern, number);
    if (message !== undefined) issues.addIssue({ code: 'custom', message, path: ['pattern'] });
  })
  .optional()
  .describe('soap-tts: the text of `ttsReturn` that accepts a message, beside `Job <number>`.');

const allow = z
  .record(z.string(), z.array(z.union([text, z.literal('')])).min(1, 'expected at least one value'))
  .optional()
  .describe(
    'Values that this service accepts beyond the observed ones, such as { Resolution: [Fine], RetryAttempts: [6-9], EmailSubject: [""] }.',
  );

const account = z.strictObject({
  interface: z.enum(interfaceNames).describe('The interface of the service.'),
  format: z.enum(formats).optional().describe('By default json; soap-tts: xml.'),
  baseUrl: z
    .string()
    .describe(
      'The address of the service. It may contain ${NAME} or ${NAME:-default}. /api/v2.04 at its end selects that version.',
    )
    .meta({ writeOnly: true }),
  plainHttp: z
    .enum(plainHttpPolicies)
    .default('refused')
    .describe('Whether "baseUrl" may be http:// on another machine, unencrypted.'),
  certificates: z
    .enum(['checked', 'unchecked'])
    .default('checked')
    .describe('Whether Volley may send with NODE_TLS_REJECT_UNAUTHORIZED=0.'),
  authToken: secretReference.optional().describe('rest-2.02: the token, as ${NAME}.'),
  sender: text.optional().describe('rest-1.x and soap-tts: the user of the credential.'),
  apiKey: secretReference.optional().describe('rest-1.x: the key of the sender, as ${NAME}.'),
  token: secretReference.optional().describe('soap-tts: the token of the sender, as ${NAME}.'),
  ...webhookTokens,
  webhookOf: text.optional().describe('Another account, whose webhook also receives for this one.'),
  suppressionsOf: text
    .optional()
    .describe('Another account with the same opt-outs; by default that of `webhookOf`.'),
  frequency: frequency('this account'),
  receiver: receiverSettings,
  timeouts,
  limits,
  statusLookUp: z
    .enum(['off', 'on'])
    .default('off')
    .describe('rest-2.02: whether the service has the status look-up.'),
  ttsReturn,
  allow,
  attachments: z
    .array(text)
    .min(1, 'expected at least one folder')
    .optional()
    .describe(
      'The folders of attachments where the campaign names none, relative to its folder. By default documents.',
    ),
  rates,
  ratesTimeZone,
});

export const accountsSchema = z
  .strictObject({
    accounts: z
      .record(
        z.string().max(100, 'expected a name of at most 100 characters'),
        account.superRefine(checkChannels),
      )
      .superRefine(checkSharing)
      .describe('The accounts, by the name that campaigns use.'),
    frequency: frequency('all accounts of the ledger together'),
  })
  .meta({ title: 'Volley accounts' });

export function accountsJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(accountsSchema, { io: 'input' });
}
