import { z } from 'zod';
import { channels } from '../domain/message.ts';
import { decimal, text } from '../platform/scalars.ts';
import { keypadTones } from '../wire/message-parts.ts';
import { approval } from './approval.ts';
import { canary } from './canary-definition.ts';
import { contacts } from './contacts-definition.ts';
import { dispatch } from './dispatch.ts';
import { describeMessageKey, messageKeys } from './message-keys.ts';
import { notify } from './notify.ts';
import { guard } from './run-guard-definition.ts';
import { schedule } from './schedule.ts';
import { campaignTimeZone, deadline, onDeadline, sendingWindow } from './window-definition.ts';

/**
 * Defines a campaign's shape once: for the TypeScript type, the check when it is loaded, and the JSON Schema for
 * editors (`campaigns/campaign.schema.json`).
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
  .meta({ type: ['string', 'number', 'boolean'] });

const tone = z
  .string()
  .refine((written) => keypadTones.includes(written), { error: 'expected a button from 1 to 9' })
  .meta({ type: 'integer', minimum: 1, maximum: 9 })
  .describe('The telephone button.');

const keypad = z.strictObject({
  Tone: tone,
  RouteNumber: text.describe('The phone number that it connects to.'),
});

const keypads = z
  .array(keypad)
  .max(keypadTones.length, 'a telephone has at most 9 buttons')
  .superRefine((list, context) => {
    for (const [index, { Tone }] of list.entries()) {
      if (list.findIndex((other) => other.Tone === Tone) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'Tone'], message: 'expected each button once' });
    }
  })
  .describe('Calls: the buttons that connect to a number, at most 9.');

/** It is in the schema only so that its error can say why. */
const messageId = z
  .unknown()
  .refine(() => false, {
    error:
      'Volley creates it (at most 40 letters and digits, unique to each request); remove it from the campaign',
  })
  .meta({ not: {}, description: 'Not for campaigns: Volley creates it.' });

const message = z
  .strictObject({
    ...Object.fromEntries(messageKeys.map((key) => [key, text.describe(describeMessageKey(key)).optional()])),
    Keypads: keypads.optional(),
    MessageID: messageId.optional(),
  })
  .describe(
    "The message, in the interface's field names. Values can contain [[Column]] and [[Column|fallback]].",
  );

const file = z.strictObject({
  file: text.describe('A file to send, in a folder of `attachments`.'),
  name: text.optional().describe("The name that the recipient sees; by default the file's."),
});

const folderList = z
  .union([text, z.array(text).min(1, 'expected at least one folder').meta({ minItems: 1 })], {
    error: 'expected a folder, or a list of folders',
  })
  .transform((written) => (typeof written === 'string' ? [written] : written))
  .meta({ type: ['string', 'number', 'boolean', 'array'] });

const amount = decimal(1_000_000_000);

function amountsOf(name: string) {
  return z
    .record(z.string(), amount)
    .optional()
    .describe(`The most for each ${name}. "*": each other one, and recipients without one.`);
}

const budget = z
  .strictObject({
    campaign: amount.optional().describe('The most that a run may cost.'),
    subAccounts: amountsOf('SubAccount'),
    chargeCodes: amountsOf('ChargeCode'),
  })
  .optional()
  .describe(
    "Volley refuses a plan that would cost more, by the account's `rates`, or whose cost is unknown.",
  );

const chargeCodeFile = z.strictObject({
  file: text.describe('The file.'),
  column: text.optional().describe('Its column of ChargeCodes.'),
});

const chargeCodes = z
  .union([text, chargeCodeFile], { error: 'expected the name of a file, or { file: …, column: … }' })
  .transform((written) => (typeof written === 'string' ? { file: written } : written))
  .meta({ type: ['string', 'number', 'boolean', 'object'] })
  .optional()
  .describe(
    'A file with all valid ChargeCodes, or { file: …, column: … }. A contact with another one, or none, stops the plan.',
  );

export const definitionSchema = z
  .strictObject({
    campaign: name.describe("The campaign's name in reports."),
    account: name.describe('An account of the accounts file.'),
    channel: z.enum(channels).describe('The channel, one that the interface has.'),
    contacts,
    message,
    files: z
      .array(file)
      .max(20, 'at most 20 files are allowed')
      .default([])
      .describe(
        'Attachments of an email, the document of a fax, or the targets of [[File1]], … in an SMS. With [[Column]] (statements/[[account]].pdf) a row names its own file in that folder. No hidden or YAML files, and none of the files of the campaign. At most 20 MiB in a request, 2 GiB in a run.',
      ),
    attachments: folderList
      .optional()
      .describe(
        'The folders of attachments; by default those of the account, or `documents`. One before a [[Column]] need not be named.',
      ),
    dispatch,
    guard,
    budget,
    chargeCodes,
    schedule,
    timeZone: campaignTimeZone,
    window: sendingWindow,
    deadline,
    onDeadline,
    canary,
    approval,
    notify,
  })
  .meta({ title: 'Volley campaign' });

export type Definition = z.output<typeof definitionSchema>;

export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
