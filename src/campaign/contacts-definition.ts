import { z } from 'zod';
import { duplicatePolicies } from '../domain/contacts.ts';
import type { DestinationField } from '../domain/message.ts';
import { didYouMeanCountry } from '../platform/countries.ts';
import { booleanText, duration, text, wholeNumber } from '../platform/scalars.ts';
import { knownText } from '../platform/schema-messages.ts';
import { guardKeys, guardsAgree } from './guards-definition.ts';

const withoutPlaceholders = /^(?:[^[]|\[(?!\[))*$/;

/** A recipient comes from one cell: a template or constant is never an address. */
const recipientColumn = text
  .regex(withoutPlaceholders, 'expected the name of one column, without [[ ]]')
  .optional()
  .describe(
    'The column with the phone number or e-mail address. By default, Volley guesses it from the channel.',
  );

const constant = z.strictObject({
  value: text
    .regex(withoutPlaceholders, 'expected a constant without [[')
    .describe('A text that is the same for every contact.'),
});

function fieldSource(field: string) {
  return z
    .union([text, constant], {
      error: 'expected a column, a text in quotes such as "[[first]] [[last]]", or { value: … }',
    })
    .meta({ type: ['string', 'number', 'boolean', 'object'] })
    .describe(
      `The destination's ${field}: a column, a text with [[Column]] and [[Column|fallback]], or { value: a constant }.`,
    )
    .optional();
}

const columns = z
  .strictObject({
    Recipient: recipientColumn,
    Attention: fieldSource('Attention'),
    'First Name': fieldSource('First Name'),
    'Last Name': fieldSource('Last Name'),
    Company: fieldSource('Company'),
    Custom1: fieldSource('Custom1'),
    Custom2: fieldSource('Custom2'),
  } satisfies Record<DestinationField, z.ZodType>)
  .optional()
  .describe(
    'Destination fields of the interface, and the column of the contact file for each. Without this key, Volley guesses them from the column names (`plan` shows the result) and sends only those that the message uses. With it, Volley sends all fields that it names, and guesses only a missing Recipient.',
  );

const condition = z
  .strictObject({
    column: text.describe('A column of the contact file.'),
    equals: text.optional().describe('The value it must have.'),
    in: z.array(text).min(1, 'expected at least one value').optional().describe('The values it may have.'),
    present: booleanText.optional().describe('Whether it must have a value (true) or none (false).'),
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
    'Which rows of the contact file belong to the campaign: those for which all conditions hold. Other rows are not part of the run and not counted. Spaces around a value are ignored; upper and lower case differ. { city: Perth, state: [WA, SA] } is short for a list of conditions with equals and in.',
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
    'The column or columns that identify a contact, such as an account number. Rows with the same values are duplicates. By default, the address. The recipient column counts as the normalised address.',
  );

const suppressions = z
  .array(text)
  .max(100, 'at most 100 files are allowed')
  .default([])
  .describe(
    "Files of suppressed addresses (CSV or .xlsx), relative to the campaign's folder, in addition to those of `volley suppress`. The address column is the one that would be a contact file's recipient, or else the only one. A column SubAccount limits a row to one SubAccount.",
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
          by: z
            .enum(['campaign', 'any'])
            .default('campaign')
            .describe('Which messages count: those of this campaign, or of any campaign.'),
        })
        .transform(({ time, by }) => ({ milliseconds: time, by })),
    ],
    { error: `${expectedNotWithin}, or { time: 7d, by: campaign } or { time: 7d, by: any }` },
  )
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    'A duration such as 7d: skips addresses for which the service accepted a message in this channel within that time before planning, from a run of this campaign. With { time: 7d, by: any }, from a run of any campaign.',
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
    "The contact file (CSV with a header line, or a workbook .xlsx), relative to the campaign's folder; `-` is standard input. Or a list of up to 100 files, read in order; each must have the columns that are used. CSV files can be compressed with gzip. A name can be a pattern (inbox/payroll-*.csv): it selects matching files whose content no run of this campaign has read before.",
  );

export const contacts = z
  .strictObject({
    file: contactFiles,
    take: z
      .enum(['all', 'newest'])
      .default('all')
      .describe('Which of the new files that match a pattern are read: all of them, or the newest.'),
    moveTo: text
      .optional()
      .describe(
        "A folder, relative to the campaign's, for files that a pattern matched. Volley moves them there when their run is planned, and adds the run's id to their names. The run keeps their content.",
      ),
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'mac-roman', 'latin-1'])
      // Files called latin-1 use the euro sign of Windows-1252, not the control characters of Latin-1.
      .transform((written) => (written === 'latin-1' ? 'windows-1252' : written))
      .optional()
      .describe(
        'Text encoding of the contact files. By default, Volley detects it: the byte order mark, else UTF-8, else Windows-1252. You must set it if the bytes could also be Mac Roman.',
      ),
    delimiter: z
      .enum(['comma', 'semicolon', 'tab', 'pipe'])
      .optional()
      .describe('What separates the values. By default, the delimiter that occurs most often in the header.'),
    sheet: text
      .optional()
      .describe(
        'The sheet of a workbook. By default, the first visible one. Ignored for CSV files and for results of Volley.',
      ),
    skipLines: wholeNumber(0, 10_000, 0).describe(
      'Number of lines, or rows of a sheet, to skip before the header.',
    ),
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
      .describe(
        "The column with a row's own country, as a two-letter code or an English name. Where it is empty, `country` applies.",
      ),
    landlines: z
      .enum(['reject', 'allow'])
      .default('reject')
      .describe(
        'SMS: whether to reject or allow numbers that cannot be mobiles (landlines, toll-free, premium rate, …).',
      ),
    columns,
    key: contactKey,
    duplicates: z
      .enum(duplicatePolicies)
      .default('merge')
      .describe(
        'What to do with duplicates (by `key`): send to the first and skip the others (`merge`), send to all (`allow`), or refuse the run (`refuse`).',
      ),
    where,
    suppressions,
    notWithin,
    ...guardKeys,
  })
  .refine(guardsAgree, {
    path: ['allowEmpty'],
    error:
      '"allowEmpty" and "minRecipients" exclude each other: one allows an empty run, the other forbids it',
  })
  .describe('The contact files, and which of their rows and columns are sent.');
