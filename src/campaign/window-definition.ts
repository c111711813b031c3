import { z } from 'zod';
import { text } from '../platform/scalars.ts';
import { knownText } from '../platform/schema-messages.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { didYouMeanZone } from '../platform/time-zone-names.ts';
import { isTimeZone, parseTimeZone } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';

const expectedZone = 'expected a time zone such as Pacific/Auckland or New Zealand Standard Time';

/** Accepts IANA and Windows names, as the service's interfaces do, and returns the IANA name. */
const zone = knownText(isTimeZone, expectedZone, didYouMeanZone).transform(
  (written) => parseTimeZone(written) ?? written,
);

export const campaignTimeZone = zone
  .optional()
  .describe(
    'The zone of the window and the deadline, and of recipients whose zone is unknown: an IANA or Windows name.',
  );

const holders = ['engine', 'service'] as const;

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const expectedDays = 'expected days such as Mon-Fri, or [Mon, Wed, Sat-Sun]';

const days = z
  .union([z.string(), z.array(z.string()).min(1, expectedDays)], { error: expectedDays })
  .transform((written, context) => {
    const found = parseDays([written].flat());
    if (found) return found;
    const params = { hint: nearestDay([written].flat()) };
    context.addIssue({ code: 'custom', message: expectedDays, params });
    return z.NEVER;
  })
  .default([1, 2, 3, 4, 5, 6, 7])
  .meta({ type: ['string', 'array'] })
  .describe('The days on which it opens: Mon-Fri, or [Mon, Wed, Sat-Sun]. Every day by default.');

/** @returns days from 1, Monday, to 7, sorted; undefined if one is invalid */
function parseDays(written: readonly string[]): number[] | undefined {
  const found = new Set<number>();
  for (const range of written.flatMap((each) => each.split(','))) {
    const indexes = range.split('-').map((name) => dayNames.findIndex((day) => isDay(name.trim(), day)));
    const [first = -1, last = first] = indexes;
    if (indexes.length > 2 || first === -1 || last === -1) return undefined;
    // Fri-Mon is four days.
    for (let day = first; ; day = (day + 1) % 7) {
      found.add(day + 1);
      if (day === last) break;
    }
  }
  return [...found].sort((one, other) => one - other);
}

function nearestDay(written: readonly string[]): string {
  const words = written.flatMap((each) => each.split(/[,-]/)).map((word) => word.trim());
  const wrong = words.find((word) => !dayNames.some((day) => isDay(word, day)));
  if (wrong === undefined) return '';
  const begun = dayNames.find((day) => isDay(wrong.slice(0, day.length), day));
  return begun === undefined ? didYouMean(wrong, dayNames) : ` Did you mean "${begun}"?`;
}

function isDay(written: string, name: string): boolean {
  return written.toLowerCase() === name.toLowerCase();
}

function timeOfDay(pattern: RegExp, expected: string) {
  return z
    .string()
    .regex(pattern, expected)
    .transform((written) => {
      const [hours = '', minutes = ''] = written.split(':');
      return Number(hours) * 60 + Number(minutes);
    });
}

const timeZone = z
  .union(
    [zone, z.literal('recipient'), z.strictObject({ column: text.describe('The column with the zone.') })],
    {
      error: `${expectedZone}, recipient, or { column: … }`,
    },
  )
  .transform((written) =>
    typeof written === 'object'
      ? ({ kind: 'column', column: written.column } as const)
      : written === 'recipient'
        ? ({ kind: 'recipient' } as const)
        : ({ kind: 'zone', zone: written } as const),
  )
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    "Its zone; by default the campaign's. `recipient`: that of the phone number's country; if it has several, the window must be open in all. Or { column: Zone }.",
  );

const required = z
  .strictObject({
    days,
    from: timeOfDay(/^([01]?\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as "09:00"').describe(
      'The local time at which it opens, such as "09:00".',
    ),
    to: timeOfDay(
      /^(([01]?\d|2[0-3]):[0-5]\d|24:00)$/,
      'expected a time of day such as "20:00", or "24:00"',
    ).describe('The local time at which it closes; before `from`: on the next day. "24:00" is midnight.'),
    timeZone,
    hold: z
      .enum(holders)
      .default('engine')
      .describe(
        'Where requests wait. `service`: Volley hands them over at once, with the SendTime and TimeZone of the next opening.',
      ),
  })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    error: 'expected another time than `from`; "00:00" to "24:00" is the whole day',
  });

export const sendingWindow = required
  .optional()
  .describe('The local times at which requests leave; others wait.');

export const frozenWindow = z
  .object({
    days: z.array(z.number()).readonly(),
    from: z.number(),
    to: z.number(),
    hold: z.enum(holders),
  })
  .optional();

export type FrozenWindow = NonNullable<z.output<typeof frozenWindow>>;

export const deadline = z
  .string()
  .regex(/^(\d{4}-\d\d-\d\dT)?\d\d:\d\d$/, {
    error: 'expected a local time such as 2026-12-01T17:00, or a time of day such as "06:00"',
    abort: true,
  })
  .refine(
    (written) => isTime(isTimeOfDay(written) ? `2000-01-01T${written}` : written),
    'there is no such day or time',
  )
  .optional()
  .describe(
    'When all requests should be sent: 2026-12-01T17:00, or the next "06:00". `plan` shows who would miss it.',
  );

export const onDeadline = z
  .enum(['warn', 'refuse'])
  .optional()
  .describe('What to do if a recipient would miss it; by default warn.');

/** Whether a deadline has no date. */
export function isTimeOfDay(deadline: string): boolean {
  return !deadline.includes('T');
}
