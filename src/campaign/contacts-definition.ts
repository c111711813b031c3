import { z } from 'zod';
import { duplicatePolicies } from '../domain/contacts.ts';
import type { DestinationField } from '../domain/message.ts';
import { didYouMeanCountry } from '../platform/countries.ts';
import { booleanText, duration, percentage, text, wholeNumber } from '../platform/scalars.ts';
import { knownText } from '../platform/schema-messages.ts';

const withoutPlaceholders = /^(?:[^[]|\[(?!\[))*$/;

/** A recipient comes from one cell: a template or constant is never an address. */
const recipientColumn = text
  .regex(withoutPlaceholders, 'expected the name of one column, without [[ ]]')
  .optional()
  .describe('The column of the address; by default guessed.');

const constant = z.strictObject({
  value: text
    .regex(withoutPlaceholders, 'expected a constant without [[')
    .describe('A text for every contact.'),
});

const fieldSource = z
  .union([text, constant], {
    error: 'expected a column, a text in quotes such as "[[first]] [[last]]", or { value: … }',
  })
  .meta({ type: ['string', 'number', 'boolean', 'object'] })
  .describe('A column, a text with [[Column]] and [[Column|fallback]], or { value: a constant }.')
  .optional();

const columns = z
  .strictObject({
    Recipient: recipientColumn,
    Attention: fieldSource,
    'First Name': fieldSource,
    'Last Name': fieldSource,
    Company: fieldSource,
    Custom1: fieldSource,
    Custom2: fieldSource,
  } satisfies Record<DestinationField, z.ZodType>)
  .optional()
  .describe(
    'Destination fields, and the column for each. Without it, Volley guesses them, and sends those that the message uses. With it, Volley sends all that it names, and guesses only Recipient.',
  );

const condition = z
  .strictObject({
    column: text.describe('A column of the contact file.'),
    equals: text.optional().describe('The value it must have.'),
    in: z.array(text).min(1, 'expected at least one value').optional().describe('The values it may have.'),
    present: booleanText.optional().describe('Whether it must have a value.'),
  })
  .refine(
    ({ equals, in: oneOf, present }) =>
      [equals, oneOf, present].filter((rule) => rule !== undefined).length === 1,
    {
      error: 'expected one of equals, in and present',
    },
  )
  .meta({ oneOf: ['equals', 'in', 'present'].map((rule) => ({ required: [rule] })) });

/** `{ city: Perth, state: [WA, SA] }` is short for a list of conditions. */
function toConditions(written: unknown): unknown {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return written;
  // A condition without its list.
  if ('column' in written) return written;
  return Object.entries(written).map(([column, value]) =>
    Array.isArray(value) ? { column, in: value } : { column, equals: value },
  );
}

const where = z
  .preprocess(toConditions, z.array(condition))
  .optional()
  .meta({ type: ['array', 'object'] })
  .describe(
    'Which rows belong to the campaign: all conditions must hold. Capitals count. { city: Perth, state: [WA, SA] } is short for equals and in.',
  );

const contactKey = z
  .union([text, z.array(text).meta({ minItems: 1, maxItems: 10 })], {
    error: 'expected a column, or a list of columns',
  })
  .transform((written) => (typeof written === 'string' ? [written] : written))
  .refine(({ length }) => length <= 10, { error: 'expected at most 10 columns' })
  .meta({ type: ['string', 'number', 'boolean', 'array'] })
  .default([])
  .describe(
    'The columns that identify a contact; by default the address. Rows with the same values are duplicates.',
  );

const suppressions = z
  .array(text)
  .max(100, 'at most 100 files are allowed')
  .default([])
  .describe(
    'Files of suppressed addresses beside `volley suppress`. A column SubAccount limits a row to one.',
  );

const maxNotWithin = 3650 * 86_400_000;
const expectedNotWithin = 'expected a duration from 1s to 3650d, such as 90s, 45m, 12h or 7d';

const notWithinTime = duration.refine(
  (milliseconds) => milliseconds >= 1_000 && milliseconds <= maxNotWithin,
  {
    error: expectedNotWithin,
  },
);

const notWithin = z
  .union(
    [
      notWithinTime.transform((milliseconds) => ({ milliseconds, by: 'campaign' as const })),
      z
        .strictObject({
          time: notWithinTime.describe('How long, such as 7d.'),
          by: z.enum(['campaign', 'any']).default('campaign').describe('Which messages count.'),
        })
        .transform(({ time, by }) => ({ milliseconds: time, by })),
    ],
    { error: `${expectedNotWithin}, or { time: 7d, by: campaign } or { time: 7d, by: any }` },
  )
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    'Leaves out addresses that this campaign has sent to in this channel within a time before planning, such as 7d. With { time: 7d, by: any }: any campaign.',
  );

export const standardInput = '-';

const contactFiles = z
  .union([text, z.array(text).meta({ minItems: 1, maxItems: 100 })], {
    error: 'expected a file, or a list of files',
  })
  .transform((written) => (typeof written === 'string' ? [written] : written))
  .refine(({ length }) => length >= 1 && length <= 100, { error: 'expected 1 to 100 files' })
  .refine((files) => files.filter((file) => file === standardInput).length <= 1, {
    error: 'expected "-", the standard input, at most once',
  })
  .meta({ type: ['string', 'number', 'boolean', 'array'] })
  .describe(
    'The contact file: CSV with a header, also gzipped, or a workbook (.xlsx); `-`: standard input. Or up to 100 files, in order. A pattern (inbox/payroll-*.csv) selects files that no run of this campaign has read.',
  );

const maxRows = 999_999_999;

const maxInvalid = z
  .union(
    [
      percentage.transform((share) => ({ share })),
      z
        .string()
        .regex(/^\d{1,9}$/)
        .transform((rows) => ({ rows: Number(rows) })),
    ],
    { error: 'expected a share such as 50%, or a number of rows' },
  )
  .meta({ type: ['string', 'integer'], default: '50%' })
  .default({ share: 0.5 })
  .describe('The most invalid rows: a share such as 5%, or a number. Rows without an address do not count.');

export const contacts = z
  .strictObject({
    file: contactFiles,
    take: z.enum(['all', 'newest']).default('all').describe('Which new files of a pattern are read.'),
    moveTo: text
      .optional()
      .describe(
        "A folder to which Volley moves files of a pattern when their run is planned, with the run's id in their names.",
      ),
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'mac-roman', 'latin-1'])
      // Files called latin-1 use the euro sign of Windows-1252, not the control characters of Latin-1.
      .transform((written) => (written === 'latin-1' ? 'windows-1252' : written))
      .optional()
      .describe('Encoding; by default detected. You must set it if the bytes could also be Mac Roman.'),
    delimiter: z
      .enum(['comma', 'semicolon', 'tab', 'pipe'])
      .optional()
      .describe('What separates the values; by default detected.'),
    sheet: text.optional().describe('The sheet of a workbook; by default the first visible one.'),
    skipLines: wholeNumber(0, 10_000, 0).describe('Lines, or rows of a sheet, before the header.'),
    country: knownText(
      (written) => /^[A-Z]{2}$/.test(written),
      'expected a two-letter country code in capitals, such as AU',
      didYouMeanCountry,
    )
      .meta({ pattern: '^[A-Z]{2}$' })
      .optional()
      .describe('Country of phone numbers without a country code, such as AU.'),
    countryColumn: text
      .optional()
      .describe("The column with a row's own country: a two-letter code or an English name."),
    landlines: z
      .enum(['reject', 'allow'])
      .default('reject')
      .describe('SMS: what to do with numbers that cannot be mobiles.'),
    columns,
    key: contactKey,
    duplicates: z
      .enum(duplicatePolicies)
      .default('merge')
      .describe('Duplicates: send to the first (`merge`), to all (`allow`), or refuse the run.'),
    where,
    suppressions,
    notWithin,
    allowEmpty: booleanText
      .default(false)
      .describe('Whether a run can have no recipients; by default refused.'),
    maxInvalid,
    minRecipients: wholeNumber(0, maxRows, 0).describe('The fewest recipients of a run.'),
  })
  .refine(({ allowEmpty, minRecipients }) => !allowEmpty || minRecipients === 0, {
    path: ['allowEmpty'],
    error:
      '"allowEmpty" and "minRecipients" exclude each other: one allows an empty run, the other forbids it',
  })
  .describe('The contact files, and which of their rows and columns are sent.');

/** Rules about the contacts of a run. */
export type Guards = Pick<z.output<typeof contacts>, 'allowEmpty' | 'maxInvalid' | 'minRecipients'>;
