import { z } from 'zod';
import { channels, destinationFields } from '../domain.ts';
import { text, wholeNumber } from '../platform/scalars.ts';
import { messageFieldNames } from '../wire/fields.ts';
import { describeMessageField } from './field-descriptions.ts';

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

const message = z
  .strictObject(
    Object.fromEntries(
      messageFieldNames.map((field) => [field, text.describe(describeMessageField(field)).optional()]),
    ),
  )
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
      .describe('Attachments; the document of a fax; what [[File1]], [[File2]], … link to in an SMS.'),
    dispatch,
  })
  .meta({ title: 'Volley campaign' });

/** A campaign as it was written, checked and with its defaults filled in. */
export type Definition = z.output<typeof definitionSchema>;

/** The JSON Schema that editors use for completion. */
export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
