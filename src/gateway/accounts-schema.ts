import { z } from 'zod';
import { formats, interfaceNames } from '../domain/message.ts';
import { duration, positiveNumber, text, wholeNumber } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { allowSchema } from './allowed-values.ts';
import { rates, ratesTimeZone } from './rate-card.ts';
import { receiverSettings, webhookTokens } from './receiver-settings.ts';
import { checkSharing } from './sharing-rules.ts';

const timeouts = z
  .strictObject({
    connect: duration.prefault('5s').describe('Until a connection stands.'),
    headers: duration.prefault('30s').describe('From the request to the first line of the answer.'),
    body: duration.prefault('30s').describe('From the first line of the answer to its end.'),
  })
  .prefault({})
  .describe('How long to wait for the service, such as 500ms, 5s or 2m.');

function maxPerSecond(what: string) {
  return positiveNumber(100_000)
    .optional()
    .describe(
      `Most ${what} a second through this account, over all workers, such as 50 or 0.5; no limit where it is not given. \`volley account limits\` changes it while runs go on.`,
    );
}

const limits = z
  .strictObject({
    concurrency: wholeNumber(1, 256, 16).describe(
      'Most requests in flight at once through this account, over all workers.',
    ),
    requestsPerSecond: maxPerSecond('requests'),
    recipientsPerSecond: maxPerSecond('recipients'),
  })
  .prefault({})
  .describe('How much the account may be asked for; campaigns may ask for less.');

const account = z.strictObject({
  interface: z
    .enum(interfaceNames)
    .describe('The interface of the service that the account is spoken to in.'),
  format: z
    .enum(formats)
    .optional()
    .describe('How requests are written: json by default, and always xml for soap-tts.'),
  baseUrl: z
    .string()
    .describe(
      'The http(s) address of the service; may contain ${NAME} or ${NAME:-default}. rest-2.02: /api/v2.03 or /api/v2.04 at its end has that version spoken.',
    )
    .meta({ writeOnly: true }),
  plainHttp: z
    .enum(['refused', 'allowed'])
    .default('refused')
    .describe(
      'Whether "baseUrl" may be http:// on another machine than this one: credentials and messages then cross the network unencrypted.',
    ),
  authToken: secretReference
    .optional()
    .describe('rest-2.02: the token of the Authorization header, as ${NAME}.'),
  sender: text.optional().describe('rest-1.x and soap-tts: the user the credential belongs to.'),
  apiKey: secretReference.optional().describe('rest-1.x: the key of the sender, as ${NAME}.'),
  token: secretReference.optional().describe('soap-tts: the token of the sender, as ${NAME}.'),
  ...webhookTokens,
  webhookOf: text
    .optional()
    .describe(
      "Another account, to whose webhook the reports of this one's messages come too. Reports are about messages of the account that they come for, and of accounts that say so here.",
    ),
  suppressionsOf: text
    .optional()
    .describe(
      'Another account, whose suppressions hold for this one too; replies and reports by which somebody opts out of either count for both. By default that of `webhookOf`, else an opt-out counts for its own account alone.',
    ),
  receiver: receiverSettings,
  timeouts,
  limits,
  statusLookUp: z
    .enum(['off', 'on'])
    .default('off')
    .describe(
      'rest-2.02: whether the service can be asked what became of a MessageID (its status look-up, not in every version). It settles requests in doubt.',
    ),
  allow: allowSchema,
  rates,
  ratesTimeZone,
});

export const accountsSchema = z
  .strictObject({
    accounts: z
      .record(z.string().max(100, 'expected a name of at most 100 characters'), account)
      .superRefine(checkSharing)
      .describe('The accounts, each under the name campaigns call it by.'),
  })
  .meta({ title: 'Volley accounts' });

export function accountsJsonSchema(): unknown {
  return z.toJSONSchema(accountsSchema, { io: 'input' });
}
