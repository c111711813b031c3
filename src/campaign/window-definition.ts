import { z } from 'zod';
import { text } from '../platform/scalars.ts';
import { knownText } from '../platform/schema-messages.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { didYouMeanZone } from '../platform/time-zone-names.ts';
import { isTimeZone, parseTimeZone } from '../wire/time-zone.ts';

/** `timeZone`, `window`, `deadline` and `onDeadline` of a campaign. */

const expectedZone = 'expected a time zone such as Pacific/Auckland or New Zealand Standard Time';

/** As the interfaces of the service take them, by either kind of name; read into that of the IANA database. */
const zone = knownText(isTimeZone, expectedZone, didYouMeanZone).transform(
  (written) => parseTimeZone(written) ?? written,
);

export const campaignTimeZone = zone
  .optional()
  .describe(
    "The campaign's own time zone, such as Pacific/Auckland, or a Windows zone: that of the window where it names no other, of recipients whose own cannot be told, and of the deadline.",
  );

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
  .describe('The days on which the window opens: Mon-Fri, or [Mon, Wed, Sat-Sun]. Every day by default.');

/** @returns days from 1, Monday, to 7, in their order; undefined where one cannot be read */
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
  .union([zone, z.literal('recipient'), z.strictObject({ column: text.describe('The column with it.') })], {
    error: `${expectedZone}, recipient, or { column: … }`,
  })
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
    "Whose local time counts: a zone for everybody; recipient, that of the country of the phone number (of a country with several, the window must be open in all of them); or { column: Zone }, that of a column with zones by either kind of name. The campaign's `timeZone` where it is not given.",
  );

const required = z
  .strictObject({
    days,
    from: timeOfDay(/^([01]?\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as "09:00"').describe(
      'The local time from which on requests may be sent, such as "09:00".',
    ),
    to: timeOfDay(
      /^(([01]?\d|2[0-3]):[0-5]\d|24:00)$/,
      'expected a time of day such as "20:00", or "24:00"',
    ).describe(
      'The local time from which on they may not; before `from`, it is that of the day after. "24:00" is midnight.',
    ),
    timeZone,
    hold: z
      .enum(['engine', 'service'])
      .default('engine')
      .describe(
        'Where that waits which cannot go now: here, or handed over at once with the SendTime and TimeZone of the next opening, where the interface has them.',
      ),
  })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    error: 'expected another time than `from`; "00:00" to "24:00" is the whole day',
  });

export const sendingWindow = required
  .optional()
  .describe('When requests may be sent, by local time; what cannot go now waits.');

export const frozenWindow = z
  .object({
    days: z.array(z.number()).readonly(),
    from: z.number(),
    to: z.number(),
    hold: z.enum(['engine', 'service']),
  })
  .optional();

export type FrozenWindow = NonNullable<z.output<typeof frozenWindow>>;

export const deadline = z
  .string()
  .regex(/^(\d{4}-\d\d-\d\dT)?\d\d:\d\d$/, {
    error: 'expected a local time such as 2026-12-01T17:00, or a time of day such as "06:00"',
    abort: true,
  })
  .refine(isTime, 'there is no such day or time')
  .optional()
  .describe(
    'The local time by which all should be sent, in the campaign\'s `timeZone` (or that of the window, or of the schedule): 2026-12-01T17:00, or the next time that it is so late, "06:00". `plan` says who would miss it at the rate that is set.',
  );

export const onDeadline = z
  .enum(['warn', 'refuse'])
  .optional()
  .describe(
    'What becomes of a plan of which somebody would miss the deadline: it is told (warn, as by default), or refused, and nothing is planned.',
  );

/** Whether a deadline is a time of whatever day it is. */
export function isTimeOfDay(deadline: string): boolean {
  return !deadline.includes('T');
}

function isTime(written: string): boolean {
  const local = isTimeOfDay(written) ? `2000-01-01T${written}` : written;
  const time = new Date(`${local}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(local);
}
