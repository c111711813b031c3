import { z } from 'zod';
import { duplicatePolicies } from '../domain/contacts.ts';
import type { DestinationField } from '../domain/message.ts';
import { didYouMeanCountry } from '../platform/countries.ts';
import { booleanText, duration, text, wholeNumber } from '../platform/scalars.ts';
import { knownText } from '../platform/schema-messages.ts';
import { guardKeys, guardsAgree } from './guards-definition.ts';

/** `contacts` of a campaign: which files, which of their rows, and what of them is sent. */

const withoutPlaceholders = /^(?:[^[]|\[(?!\[))*$/;

/** A recipient is read from one cell: what is put together or the same for everybody is nobody's address. */
const recipientColumn = text
  .regex(withoutPlaceholders, 'expected the name of one column, without [[ ]]')
  .optional()
  .describe(
    'The column with the phone number or e-mail address. Guessed by the channel where it is not given.',
  );

const constant = z.strictObject({
  value: text
    .regex(withoutPlaceholders, 'expected a constant without [[')
    .describe('A text that is the same for everybody.'),
});

function fieldSource(field: string) {
  return z
    .union([text, constant], {
      error: 'expected a column, a text in quotes such as "[[first]] [[last]]", or { value: … }',
    })
    .meta({ type: ['string', 'number', 'boolean', 'object'] })
    .describe(
      `What is sent as the destination's ${field}: a column, a text with [[Column]] and [[Column|fallback]], or { value: a constant }.`,
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
    "Destination fields of the interface, and the contact file's column that fills each. Guessed from the names of the columns where nothing is said (`plan` shows how), and sent only where the message uses the guess; where something is said, all of that is sent, and only a missing Recipient is guessed.",
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

const where = z
  .array(condition)
  .optional()
  .describe(
    'Which rows of the contact file the campaign is for: all conditions must hold. Other rows are not part of the run and not counted as read. Spaces around a value make no difference, capitals do.',
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
    'The column, or the columns, that make two rows the same, such as an account number. The address by default. The recipient column counts as the address that is sent to.',
  );

const suppressions = z
  .array(text)
  .max(100, 'at most 100 files can be named')
  .default([])
  .describe(
    "Files of addresses that must not be sent to (CSV), relative to the campaign's folder, besides those of `volley suppress`. The column is the one that would be a contact file's recipient, else the only one; a column SubAccount limits a row to one.",
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
            .describe('Whose messages count: those of this campaign, or of any.'),
        })
        .transform(({ time, by }) => ({ milliseconds: time, by })),
    ],
    { error: `${expectedNotWithin}, or { time: 7d, by: campaign } or { time: 7d, by: any }` },
  )
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    'A time such as 7d: addresses are left out that the service accepted a message for in this channel, within that time before the run is planned, by a run of this campaign; { time: 7d, by: any }: by a run of any.',
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
    "The contact file (CSV with a header line), relative to the campaign's folder; `-` is standard input. Or a list of up to 100, read one after the other: each must have the columns that are used. They may be packed with gzip. A name may be a pattern (inbox/payroll-*.csv): then those are read that match it and that no run of this campaign has read before, by their content.",
  );

export const contacts = z
  .strictObject({
    file: contactFiles,
    take: z
      .enum(['all', 'newest'])
      .default('all')
      .describe('Of the files that a pattern matches and that are new: all of them, or the newest.'),
    moveTo: text
      .optional()
      .describe(
        "A folder, relative to the campaign's, into which the files that a pattern matched are moved when their run is planned: it has their content. Their names get the run's id.",
      ),
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'mac-roman', 'latin-1'])
      // Nobody who says Latin-1 means its control characters where Windows-1252 has the euro sign.
      .transform((written) => (written === 'latin-1' ? 'windows-1252' : written))
      .optional()
      .describe(
        'How the text of the contact files is written in bytes. Found out where it is not given: by the byte order mark, else UTF-8, or Windows-1252 where it is not that. Asked for where it may as well be Mac Roman.',
      ),
    delimiter: z
      .enum(['comma', 'semicolon', 'tab', 'pipe'])
      .optional()
      .describe('What separates the values. Where it is not given, what the header has most of.'),
    skipLines: wholeNumber(0, 10_000, 0).describe('Lines before the header that are passed over.'),
    country: knownText(
      (written) => /^[A-Z]{2}$/.test(written),
      'expected a two-letter country code in capitals, such as AU',
      didYouMeanCountry,
    )
      .meta({ pattern: '^[A-Z]{2}$' })
      .optional()
      .describe('Country of phone numbers that are written without a country code, such as AU.'),
    countryColumn: text
      .optional()
      .describe(
        "The column with a row's own country, as a two-letter code or an English name; where it is empty, `country` holds.",
      ),
    landlines: z
      .enum(['reject', 'allow'])
      .default('reject')
      .describe(
        'SMS: what becomes of numbers that cannot be mobiles (landlines, toll-free, premium rate, …): left out, or sent to.',
      ),
    columns,
    key: contactKey,
    duplicates: z
      .enum(duplicatePolicies)
      .default('merge')
      .describe(
        'What becomes of rows that are the same by `key`: the first is sent to and the others are left out (merge), all are sent to (allow), or Volley refuses the run (refuse).',
      ),
    where,
    suppressions,
    notWithin,
    ...guardKeys,
  })
  .refine(guardsAgree, {
    path: ['allowEmpty'],
    error:
      '"allowEmpty" and "minRecipients" exclude each other: one lets a run be empty, the other forbids it',
  })
  .describe('The contact file, and which of its rows and columns are sent.');
