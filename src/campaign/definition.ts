import { z } from 'zod';
import { channels, type DestinationField } from '../domain.ts';
import { decimal, duration, text, wholeNumber } from '../platform/scalars.ts';
import { keypadTones } from '../wire/fields.ts';
import { approval } from './approval.ts';
import { dispatch } from './dispatch.ts';
import { describeMessageKey } from './field-descriptions.ts';
import { messageKeys } from './message-keys.ts';
import { schedule } from './schedule.ts';

/**
 * The one source of a campaign's shape: the TypeScript type, the check at load and the JSON Schema for editors
 * (`campaigns/campaign.schema.json`) all come from here.
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
  .meta({ type: ['string', 'number', 'boolean'] });

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
    "Destination fields of the interface, and the contact file's column that fills each. Guessed from the names of the columns where nothing is said (`plan` shows how); where something is, only a missing Recipient is.",
  );

const condition = z
  .strictObject({
    column: text.describe('A column of the contact file.'),
    equals: text.optional().describe('The value it must have.'),
    in: z.array(text).min(1, 'expected at least one value').optional().describe('The values it may have.'),
    present: z
      .string()
      .refine((written) => written === 'true' || written === 'false', { error: 'expected true or false' })
      .meta({ type: 'boolean' })
      .transform((written) => written === 'true')
      .optional()
      .describe('Whether it must have a value (true) or none (false).'),
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

const suppressions = z
  .array(text)
  .max(100, 'at most 100 files can be named')
  .default([])
  .describe(
    "Files of addresses that must not be sent to (CSV), relative to the campaign's folder, besides those of `volley suppress`. The column is the one that would be a contact file's recipient, else the only one; a column SubAccount limits a row to one.",
  );

/** Milliseconds. */
const longestNotWithin = 3650 * 86_400_000;
const expectedNotWithin = 'expected a duration from 1s to 3650d, such as 7d';

const notWithinTime = duration.refine(
  (milliseconds) => milliseconds >= 1_000 && milliseconds <= longestNotWithin,
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

/** What a contact file is called that is piped in. */
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

const contacts = z
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
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'latin-1'])
      // Nobody who says Latin-1 means its control characters where Windows-1252 has the euro sign.
      .transform((written) => (written === 'latin-1' ? 'windows-1252' : written))
      .optional()
      .describe(
        'How the text of the contact files is written in bytes. Found out where it is not given: by the byte order mark, else UTF-8, or Windows-1252 where it is not that.',
      ),
    delimiter: z
      .enum(['comma', 'semicolon', 'tab', 'pipe'])
      .optional()
      .describe('What separates the values. Where it is not given, what the header has most of.'),
    skipLines: wholeNumber(0, 10_000, 0).describe('Lines before the header that are passed over.'),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'expected a two-letter country code in capitals, such as AU')
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
    where,
    suppressions,
    notWithin,
  })
  .describe('The contact file, and which of its rows and columns are sent.');

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
        'Attachments; the document of a fax; what [[File1]], [[File2]], … link to in an SMS. Their values may contain [[Column]] too, for a file of each contact. At most 20 MiB together in a request, 2 GiB in a run.',
      ),
    dispatch,
    budget,
    chargeCodes,
    schedule,
    approval,
  })
  .meta({ title: 'Volley campaign' });

/** A campaign as it was written, checked and with its defaults filled in. */
export type Definition = z.output<typeof definitionSchema>;

/** The JSON Schema that editors use for completion. */
export function definitionJsonSchema(): unknown {
  return z.toJSONSchema(definitionSchema, { io: 'input' });
}
