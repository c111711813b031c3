import { z } from 'zod';
import { channels, destinationFields } from '../domain.ts';
import { text, wholeNumber } from '../platform/scalars.ts';
import { keypadTones } from '../wire/fields.ts';
import { describeMessageKey } from './field-descriptions.ts';
import { messageKeys } from './message-keys.ts';

/**
 * The one source of a campaign's shape: the TypeScript type, the check at load and the JSON Schema for editors
 * (`campaigns/campaign.schema.json`) all come from here.
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
  .meta({ type: ['string', 'number', 'boolean'] });

const columns = z
  .strictObject({
    Recipient: text.describe('The column with the phone number or e-mail address.'),
    ...Object.fromEntries(
      destinationFields
        .filter((field) => field !== 'Recipient')
        .map((field) => [field, text.describe(`The column sent as the destination's ${field}.`).optional()]),
    ),
  })
  .describe("Destination fields of the interface, and the contact file's column that fills each.");

const contacts = z
  .strictObject({
    file: text.describe("The contact file (CSV with a header line), relative to the campaign's folder."),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'expected a two-letter country code in capitals, such as AU')
      .optional()
      .describe('Country of phone numbers that are written without a country code, such as AU.'),
    columns,
  })
  .describe('The contact file, and which of its columns are sent.');

const tone = z
  .string()
  .refine((written) => keypadTones.includes(written), { error: 'expected a button from 1 to 9' })
  .meta({ type: 'integer', minimum: 1, maximum: 9 })
  .describe('The button of the telephone.');

const keypad = z.strictObject({
  Tone: tone,
  RouteNumber: text.describe('The number a call is connected to when the button is pressed.'),
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

const dispatch = z
  .strictObject({
    chunkSize: wholeNumber(1, 10_000, 200).describe('Most recipients in one request.'),
    concurrency: wholeNumber(1, 256, 8).describe('Most requests in flight at once.'),
    retries: wholeNumber(0, 20, 5).describe(
      'Most repeats of a request that provably never reached the service, or that it asked to repeat.',
    ),
  })
  .prefault({})
  .describe('How fast, and in which portions, the requests are sent.');

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
        'Attachments; the document of a fax; what [[File1]], [[File2]], … link to in an SMS. Their values may contain [[Column]] too, for a file of each contact. At most 20 MiB together in a request, 2 GiB in a run.',
      ),
    dispatch,
  })
  .meta({ title: 'Volley campaign' });

/** A campaign as it was written, checked and with its defaults filled in. */
export type Definition = z.output<typeof definitionSchema>;

/** The JSON Schema that editors use for completion. */
export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
