import { z } from 'zod';
import { channels } from '../domain/message.ts';
import { type Rate, unitOfChannel } from '../domain/rate-card.ts';
import { isNumberPrefix, isPhoneCountry } from '../platform/phone-countries.ts';
import { decimal, localDate, timeZone } from '../platform/scalars.ts';

const destination = z
  .string()
  .refine((written) => isPhoneCountry(written) || isNumberPrefix(written), {
    error: 'expected a country of two capital letters, such as NZ, or the start of a number, such as +6421',
  })
  .meta({ type: ['string', 'number'], pattern: '^(?:[A-Z]{2}|\\+[1-9]\\d{0,14})$' });

const rate = z
  .strictObject({
    channel: z.enum(channels).describe('The channel of the messages.'),
    unit: z
      .enum(Object.values(unitOfChannel))
      .describe('The unit that is charged: part (sms), email, page (fax) or second (calls).'),
    destination: destination
      .optional()
      .describe(
        'A country, such as NZ, or the start of a number, such as +6421; by default everywhere. The longest counts.',
      ),
    price: decimal(1_000_000).describe('The price of a unit without tax, at most 8 decimals.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'expected three capital letters, such as NZD')
      .describe('The currency, such as NZD; the same in all rates.'),
    tax: decimal(1, 'a share', '0.15').optional().describe('The tax, such as 0.15, shown apart.'),
    from: localDate.optional().describe('The first valid day.'),
    until: localDate.optional().describe('The first day that is no longer valid.'),
  })
  .superRefine(({ channel, unit, destination: written, from, until }, context) => {
    const add = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    if (unit !== unitOfChannel[channel])
      add('unit', `expected ${unitOfChannel[channel]}, the unit of ${channel}`);
    if (channel === 'email' && written !== undefined)
      add('destination', 'expected none, because email has no country');
    if (from !== undefined && until !== undefined && until <= from) {
      add('until', `expected a day after ${from}, the first valid day`);
    }
  })
  .meta({
    oneOf: channels.map((channel) => ({
      properties: { channel: { const: channel }, unit: { const: unitOfChannel[channel] } },
      ...(channel === 'email' ? { not: { required: ['destination'] } } : {}),
    })),
  });

/** A tariff index must fit in two bytes. */
const maxRates = 20_000;

export const rates = z
  .array(rate)
  .max(maxRates, `expected at most ${maxRates} rates`)
  .superRefine((list, context) => {
    const add = (index: number, key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [index, key], message });
    };
    for (const [index, { currency }] of list.entries()) {
      if (currency === list[0]?.currency) continue;
      add(index, 'currency', `expected ${list[0]?.currency}, the currency of the other rates`);
    }
    for (const { index, other } of overlaps(list)) {
      const given = (['from', 'destination'] as const).find((key) => list[index]?.[key] !== undefined);
      const message = `expected other days or another destination than rates.${other}, which is for ${describeRate(list[other])}`;
      add(index, given ?? 'channel', message);
    }
  })
  .default([])
  .describe('The rate card: the prices of the service.');

export const ratesTimeZone = timeZone
  .default('UTC')
  .describe('The zone of these dates, and of the days of `recipientsPerDay`.');

/** Two rates for the same channel and destination that are valid at the same time, by index. */
type Overlap = { readonly index: number; readonly other: number };

function overlaps(list: readonly Rate[]): Overlap[] {
  const found: Overlap[] = [];
  const groups = Map.groupBy(
    list.entries(),
    ([, { channel, destination = '' }]) => `${channel} ${destination}`,
  );
  for (const group of groups.values()) {
    let latest: (typeof group)[number] | undefined;
    for (const entry of group.toSorted(([, one], [, other]) =>
      compareTexts(one.from ?? '', other.from ?? ''),
    )) {
      const [index, { from = '', until = endOfTime }] = entry;
      if (latest !== undefined && from < (latest[1].until ?? endOfTime)) {
        found.push({ index: Math.max(index, latest[0]), other: Math.min(index, latest[0]) });
      }
      if (latest === undefined || until > (latest[1].until ?? endOfTime)) latest = entry;
    }
  }
  return found.toSorted((one, other) => one.index - other.index);
}

/** Sorts after every date. */
const endOfTime = '~';

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Writes a rate such as `sms to NZ from 2026-11-01`. */
function describeRate(written: Rate | undefined): string {
  if (written === undefined) return '';
  const { channel, destination: to, from, until } = written;
  const words: readonly (readonly [string, string | undefined])[] = [
    ['to', to],
    ['from', from],
    ['until before', until],
  ];
  return [channel, ...words.flatMap(([word, value]) => (value === undefined ? [] : `${word} ${value}`))].join(
    ' ',
  );
}
