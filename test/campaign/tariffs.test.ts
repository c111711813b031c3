import fc from 'fast-check';
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, test } from 'vitest';
import { createTariffs, periodAt } from '../../src/campaign/tariffs.ts';
import type { Rate } from '../../src/domain/rate-card.ts';

const rate = (price: string, changes: Partial<Rate> = {}): Rate => ({
  channel: 'sms',
  unit: 'part',
  price,
  currency: 'NZD',
  ...changes,
});

const open = (rates: readonly Rate[], ratesTimeZone = 'UTC') =>
  createTariffs('sms', { rates, ratesTimeZone });

/** The price of each address at a time; undefined: none. */
function pricesOf(
  rates: readonly Rate[],
  addresses: readonly string[],
  at = new Date(),
): (string | undefined)[] {
  const { tariffIndexOf, rates: frozen } = open(rates);
  const indexes = addresses.map((address) => tariffIndexOf?.(address) ?? 0);
  const { tariffs = [] } = frozen() ?? {};
  return indexes.map((index) => periodAt(tariffs[index] ?? [], at)?.price);
}

describe('createTariffs', () => {
  test('without a rate for the channel, no address has a tariff', () => {
    const { tariffIndexOf, rates } = open([rate('1', { channel: 'fax', unit: 'page' })]);
    expect([tariffIndexOf, rates()]).toEqual([null, null]);
  });

  test('with rates for every destination only, addresses are not examined', () => {
    const { tariffIndexOf, rates } = open([
      rate('1', { until: '2026-11-01' }),
      rate('2', { from: '2026-11-01' }),
    ]);
    expect(tariffIndexOf).toBeNull();
    expect(rates()?.tariffs).toHaveLength(1);
  });

  test('the longest prefix takes precedence over the country, and the country over every destination', () => {
    const rates = [
      rate('everywhere'),
      rate('NZ', { destination: 'NZ' }),
      rate('+6421', { destination: '+6421' }),
      rate('+642', { destination: '+642' }),
      rate('+6', { destination: '+6' }),
    ];
    expect(
      pricesOf(rates, ['+64211234567', '+64221234567', '+6491234567', '+61412345678', '+4791234567']),
    ).toEqual(['+6421', '+642', '+6', '+6', 'everywhere']);
    expect(pricesOf(rates.slice(0, 3), ['+64221234567', '+61412345678'])).toEqual(['NZ', 'everywhere']);
  });

  test('countries with a shared calling code have their own rates', () => {
    const rates = ['CA', 'US', 'KZ', 'GB', 'VA'].map((destination) => rate(destination, { destination }));
    const numbers = [
      '+15062345678',
      '+12015550123',
      '+77710009998',
      '+79123456789',
      '+447400123456',
      '+447624123456',
    ];
    expect(pricesOf(rates, numbers)).toEqual(['CA', 'US', 'KZ', undefined, 'GB', undefined]);
  });

  test("every country has its own rate for the phone number library's example number", () => {
    const rates = getCountries().map((destination) => rate(destination, { destination }));
    const numbers = getCountries().map((country) => getExampleNumber(country, examples)?.number ?? '');
    expect(numbers).not.toContain('');
    expect(pricesOf(rates, numbers)).toEqual(
      numbers.map((number) => parsePhoneNumberFromString(number)?.country),
    );
  });

  test('an address without a rate has a tariff without periods', () => {
    const { tariffIndexOf, rates } = open([rate('1', { destination: 'NZ' })]);
    expect([
      tariffIndexOf?.('+6421123456'),
      tariffIndexOf?.('+61412345678'),
      tariffIndexOf?.('+6421123457'),
    ]).toEqual([0, 1, 0]);
    expect(rates()?.tariffs).toEqual([[{ price: '1', tax: null, from: null, until: null }], []]);
  });

  test('only tariffs in use are kept, in order of first use', () => {
    const { tariffIndexOf, rates } = open(
      ['NZ', 'AU', 'NO'].map((destination) => rate(destination, { destination })),
    );
    expect(rates()).toEqual({ currency: 'NZD', tariffs: [] });
    expect(['+4791234567', '+6421123456', '+4791234568'].map((address) => tariffIndexOf?.(address))).toEqual([
      0, 1, 0,
    ]);
    expect(rates()?.tariffs.map(([period]) => period?.price)).toEqual(['NO', 'NZ']);
  });

  test('a destination has only its own rates: at another time it has none', () => {
    const rates = [rate('1'), rate('2', { destination: 'NZ', until: '2026-11-01' })];
    expect(pricesOf(rates, ['+6421123456'], new Date('2026-10-31T23:59:59Z'))).toEqual(['2']);
    expect(pricesOf(rates, ['+6421123456'], new Date('2026-11-01T00:00:00Z'))).toEqual([undefined]);
  });
});

describe('periods of a tariff', () => {
  test.each([
    ['2026-09-27', 'Pacific/Auckland', '2026-09-26T12:00:00Z'],
    ['2026-09-28', 'Pacific/Auckland', '2026-09-27T11:00:00Z'],
    ['2026-04-05', 'Pacific/Auckland', '2026-04-04T11:00:00Z'],
    ['2026-04-06', 'Pacific/Auckland', '2026-04-05T12:00:00Z'],
    // On that day, the local time began at one o'clock.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['2026-11-01', 'UTC', '2026-11-01T00:00:00Z'],
  ])('the local date %s in %s begins at %s', (date, zone, instant) => {
    const frozen = open([rate('1', { until: date }), rate('2', { from: date, tax: '0.15' })], zone).rates();
    expect(frozen?.tariffs).toEqual([
      [
        { price: '1', tax: null, from: null, until: instant },
        { price: '2', tax: '0.15', from: instant, until: null },
      ],
    ]);
  });
});

const codes: readonly string[] = getCountries().map((country) => `+${getCountryCallingCode(country)}`);
const someDestination = fc.oneof(
  fc.constantFrom(undefined, '+', ...getCountries()),
  fc
    .tuple(fc.constantFrom('+64', '+1', '+44', '+6', ...codes), fc.nat(99))
    .map(([code, more]) => `${code}${more}`),
);
const someNumber = fc.oneof(
  fc.constantFrom(...getCountries()).map((country) => getExampleNumber(country, examples)?.number ?? ''),
  fc.tuple(fc.constantFrom(...codes), fc.nat(999_999_999)).map(([code, more]) => `${code}${more}`),
);

/** How specific a destination is for a number; negative: it does not match. */
function narrowness(destination: string | undefined, number: string): number {
  if (destination === undefined) return 0;
  if (destination.startsWith('+')) return number.startsWith(destination) ? 1 + destination.length : -1;
  const shared = codes.filter((code) => codes.indexOf(code) !== codes.lastIndexOf(code));
  const own = `+${getCountryCallingCode(getCountries().find((country) => country === destination) ?? 'NZ')}`;
  const isThere = shared.includes(own)
    ? parsePhoneNumberFromString(number)?.country === destination
    : number.startsWith(own);
  return isThere ? 1 : -1;
}

test('each number has the tariff that a search of all rates finds', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(someDestination, { maxLength: 60 }),
      fc.array(someNumber, { maxLength: 20 }),
      (destinations, numbers) => {
        const known = destinations.filter((destination) => destination !== '+');
        const rates = known.map((destination) => rate(destination ?? 'everywhere', { destination }));
        const found = numbers.map((number) => {
          const fitting = known.filter((destination) => narrowness(destination, number) >= 0);
          const [best] = fitting.toSorted(
            (one, other) => narrowness(other, number) - narrowness(one, number),
          );
          return fitting.length === 0 ? undefined : (best ?? 'everywhere');
        });
        expect(pricesOf(rates, numbers)).toEqual(found);
      },
    ),
  );
});
