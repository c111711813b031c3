import { z } from 'zod';
import { channels } from '../domain/message.ts';
import { decimal, text } from '../platform/scalars.ts';
import { keypadTones } from '../wire/fields.ts';
import { approval } from './approval.ts';
import { contacts } from './contacts-definition.ts';
import { dispatch } from './dispatch.ts';
import { describeMessageKey } from './field-descriptions.ts';
import { messageKeys } from './message-keys.ts';
import { notify } from './notify.ts';
import { schedule } from './schedule.ts';
import { campaignTimeZone, deadline, onDeadline, sendingWindow } from './window-definition.ts';

/**
 * The one source of a campaign's shape: the TypeScript type, the check at load and the JSON Schema for editors
 * (`campaigns/campaign.schema.json`) all come from here.
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
  .meta({ type: ['string', 'number', 'boolean'] });

const tone = z
  .string()
  .refine((written) => keypadTones.includes(written), { error: 'expected a button from 1 to 9' })
  .meta({ type: 'integer', minimum: 1, maximum: 9 })
  .describe('The button of the telephone.');

const keypad = z.strictObject({
  Tone: tone,
  RouteNumber: text.describe(
    'The phone number a call is connected to when the button is pressed; read and checked as recipients are.',
  ),
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
  .describe('Voice, text to speech: the buttons that connect a call to a number, at most 9.');

/** Known to the schema only to be refused in words of its own. */
const messageId = z
  .unknown()
  .refine(() => false, {
    error:
      'Volley makes it itself (at most 40 letters and digits, unique to each request); remove it from the campaign',
  })
  .meta({ not: {}, description: 'Not for campaigns: Volley makes it itself.' });

const message = z
  .strictObject({
    ...Object.fromEntries(messageKeys.map((key) => [key, text.describe(describeMessageKey(key)).optional()])),
    Keypads: keypads.optional(),
    MessageID: messageId.optional(),
  })
  .describe(
    "The message, under the interface's own field names; values may contain [[Column]] and [[Column|fallback]].",
  );

const file = z.strictObject({
  file: text.describe("A file to send along, in the campaign's folder."),
  name: text.optional().describe("The name the recipient sees; the file's own name by default."),
});

const amount = decimal(1_000_000_000);

function amountsOf(name: string) {
  return z
    .record(z.string(), amount)
    .optional()
    .describe(
      `The most that a run may cost each of these ${name}s; "*" (in quotes) is for every other one, each by itself, and for recipients without ${name}.`,
    );
}

const budget = z
  .strictObject({
    campaign: amount.optional().describe('The most that a run may cost.'),
    subAccounts: amountsOf('SubAccount'),
    chargeCodes: amountsOf('ChargeCode'),
  })
  .optional()
  .describe(
    "What one run may cost, in the currency of the account's `rates`. A plan that would cost more is refused, and so is one whose cost cannot be told.",
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
    "A CSV file with all valid ChargeCodes, relative to the campaign's folder, or { file: …, column: … } where it has several columns and none is called ChargeCode. A contact with another ChargeCode, or without one, stops the plan.",
  );

export const definitionSchema = z
  .strictObject({
    campaign: name.describe("The campaign's name in reports."),
    account: name.describe('An account of the accounts file.'),
    channel: z.enum(channels).describe('What is sent. Which channels there are depends on the interface.'),
    contacts,
    message,
    files: z
      .array(file)
      .max(20, 'at most 20 files can be sent along')
      .default([])
      .describe(
        'Attachments; the document of a fax; what [[File1]], [[File2]], … link to in an SMS. Their values may contain [[Column]] too, for a file of each contact, after a folder of its own (statements/[[account]].pdf): a row can name no other file. Hidden files, YAML files and the files of the campaign itself are not sent. At most 20 MiB together in a request, 2 GiB in a run.',
      ),
    dispatch,
    budget,
    chargeCodes,
    schedule,
    timeZone: campaignTimeZone,
    window: sendingWindow,
    deadline,
    onDeadline,
    approval,
    notify,
  })
  .meta({ title: 'Volley campaign' });

export type Definition = z.output<typeof definitionSchema>;

export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
