import { z } from 'zod';
import { channels, destinationFields } from '../domain.ts';
import { wholeNumber } from '../platform/scalars.ts';
import { messageFieldNames } from '../wire/fields.ts';

/**
 * The one source of a campaign's shape: the TypeScript type, the check at load and the JSON Schema for editors
 * (`campaigns/campaign.schema.json`) all come from here.
 */

/** Text may be written without quotes in YAML, so editors must allow what they take for numbers and booleans. */
const text = z.string().meta({ type: ['string', 'number', 'boolean'] });

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'expected 1 to 64 letters, digits, ".", "_" or "-"');

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

const contacts = z.strictObject({
  file: text.describe("The contact file (CSV with a header line), relative to the campaign's folder."),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'expected a two-letter country code in capitals, such as AU')
    .optional()
    .describe('Country of phone numbers that are written without a country code.'),
  columns,
});

const message = z
  .strictObject(
    Object.fromEntries(
      messageFieldNames.map((field) => [field, text.describe(`Interface field ${field}.`).optional()]),
    ),
  )
  .describe(
    "Fields of the message under the interface's own names; values may contain [[Column]] placeholders.",
  );

const file = z.strictObject({
  file: text.describe("A file to send along, relative to the campaign's folder."),
  name: text.optional().describe("The name the recipient sees; the file's own name by default."),
});

const dispatch = z
  .strictObject({
    chunkSize: wholeNumber(1, 10_000).default(200).describe('Most recipients in one request.'),
    concurrency: wholeNumber(1, 256).default(8).describe('Most requests in flight at once.'),
    retries: wholeNumber(0, 20)
      .default(5)
      .describe(
        'Most repeats of a request that provably never reached the service, or that it asked to repeat.',
      ),
  })
  .prefault({});

export const definitionSchema = z
  .strictObject({
    campaign: name.describe("The campaign's name in reports."),
    account: name.describe('An account of the accounts file.'),
    channel: z.enum(channels),
    contacts,
    message,
    files: z.array(file).max(20).default([]),
    dispatch,
  })
  .meta({ title: 'Volley campaign' });

/** A campaign as it was written, checked and with its defaults filled in. */
export type Definition = z.output<typeof definitionSchema>;

/** The JSON Schema that editors use for completion. */
export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
