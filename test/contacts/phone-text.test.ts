import { PhoneNumberType, PhoneNumberUtil } from 'google-libphonenumber';
import { isSupportedCountry } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { type Address, createAddressReader } from '../../src/contacts/address.ts';
import { readPhoneText } from '../../src/contacts/phone-text.ts';
import { createFastPhoneParser } from '../../src/platform/fast-phone-numbers.ts';
import { seededIntegers } from '../support/seeded-integers.ts';

const second = PhoneNumberUtil.getInstance();

/** Countries with every kind of number: with and without a trunk prefix, of fixed and of variable length. */
const countries = [
  'AR',
  'AU',
  'BR',
  'CN',
  'DE',
  'FR',
  'GB',
  'ID',
  'IN',
  'IT',
  'JP',
  'MX',
  'NZ',
  'RU',
  'SE',
  'SG',
  'TR',
  'US',
  'XK',
  'ZA',
] as const;

type Choose = ReturnType<typeof seededIntegers>;

/** A number in use by the second library: its example, with some of the last digits changed. */
function aNumber(country: string, choose: Choose) {
  const type = choose(4) === 0 ? PhoneNumberType.FIXED_LINE : PhoneNumberType.MOBILE;
  const example = second.getExampleNumberForType(country, type) ?? second.getExampleNumber(country);
  const national = second.getNationalSignificantNumber(example);
  const code = second.getCountryCodeForRegion(country);
  for (let changed = 5; changed > 0; changed--) {
    const digits = Array.from({ length: changed }, () => choose(10)).join('');
    const e164 = `+${code}${national.slice(0, -changed)}${digits}`;
    const number = second.parse(e164);
    if (second.isValidNumberForRegion(number, country)) return { number, e164 };
  }
  return { number: example, e164: `+${code}${national}` };
}

const inScript =
  (zero: number) =>
  (text: string): string =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

/** Unusual forms of a number. */
const writings: readonly ((text: string, choose: Choose) => string)[] = [
  (text) => text,
  fullWidth,
  (text) => text.replace('+', '＋'),
  (text) => text.replace('+', '﹢'),
  inScript(0x0660),
  inScript(0x06f0),
  inScript(0x0966),
  inScript(0xff10),
  inScript(0x1d7ce),
  (text) => text.replaceAll(/[ -]/g, '\u00a0'),
  (text) => text.replaceAll(' ', '\u2009'),
  (text) => text.replaceAll(/[ -]/g, '–'),
  (text) => text.replaceAll(/[ -]/g, '−'),
  (text) => text.replaceAll(' ', '/'),
  (text) => text.replaceAll(' ', '.'),
  (text) => `\u202a${text}\u202c`,
  (text) => `\u200e${text}\ufeff`,
  (text) => ` \t${text}\u3000`,
  (text) => `tel:${text}`,
  (text) => `TEL: \u200b${text}`,
  (text) => `tel:${text};phone-context=+1`,
  (text) => text.replace(/(\d)(\d)/, '$1\u00ad$2'),
  // Neither is a number as written, but a library could read one from it.
  (text, choose) => `${text.slice(0, choose(text.length))}\u202e${text.slice(3)}`,
  (text, choose) => `${text.slice(0, choose(text.length))}²${text.slice(3)}`,
  (text) => text.replace('+', '⁺'),
  (text) => `+${text}`,
  (text) => `(${text})`,
  (text) => `${text} ext. 5`,
  (text) => `'${text}`,
  (text, choose) => text.slice(0, -1 - choose(4)),
  (text, choose) => text + choose(1_000),
];
/** The first forms, up to this index, are always numbers. */
const plainWritings = 20;

function secondReads(text: string, country: string): string | undefined {
  try {
    const number = second.parseAndKeepRawInput(text, country);
    return second.isValidNumber(number) && !number.hasExtension()
      ? `+${number.getCountryCode()}${second.getNationalSignificantNumber(number)}`
      : undefined;
  } catch {
    return undefined;
  }
}

test('5,000 numbers of 20 countries in unusual forms are read as by a second library, or invalid', () => {
  const choose = seededIntegers(15);
  const readCounts = new Map<number, number>();
  for (let index = 0; index < 5_000; index++) {
    const country = countries[index % countries.length] ?? 'NZ';
    const home = choose(5) === 0 ? (countries[choose(countries.length)] ?? 'NZ') : country;
    const { number, e164 } = aNumber(country, choose);
    const plain = [
      e164,
      second.format(number, 1),
      ...(home === country ? [second.format(number, 2), second.format(number, 2).replaceAll(/\D/g, '')] : []),
    ];
    const way = Math.floor(index / countries.length) % writings.length;
    const text = writings[way]?.(plain[choose(plain.length)] ?? e164, choose) ?? '';
    const read = createAddressReader('voice', home)?.(text);
    if (read?.kind === 'valid') {
      readCounts.set(way, (readCounts.get(way) ?? 0) + 1);
      const shown = readPhoneText(text);
      // It misreads U+FE62 as the first library misreads U+FF0B, so it gets Unicode's plain form. Characters that
      // it cannot read, such as invisible ones, are removed for it.
      const expected = secondReads(text.normalize('NFKC'), home) ?? secondReads(shown.text, home);
      expect({ text, home, address: read.address }).toEqual({ text, home, address: expected });
    } else {
      expect(read?.detail).toMatch(/^".+" (is|has|contains|begins) /);
      if (way < plainWritings && secondReads(text, home) === e164)
        expect.fail(`${JSON.stringify(text)} in ${home} is refused: ${read?.detail}`);
    }
  }
  for (let way = 0; way < plainWritings; way++) expect(readCounts.get(way) ?? 0).toBeGreaterThan(120);
});

test.each(['DE', 'ID', 'XK', 'SE', 'ZA'])('a full-width plus sign is a plus sign in %s too', (country) => {
  for (const [written, e164] of [
    ['＋49 170 1234567', '+491701234567'],
    ['＋62 812 3456 7890', '+6281234567890'],
    ['＋383 44 123 456', '+38344123456'],
    ['＋46701740605', '+46701740605'],
    ['＋２７ ８２ １２３ ４５６７', '+27821234567'],
  ] as const)
    expect(createAddressReader('sms', country)?.(written)).toEqual({ kind: 'valid', address: e164 });
});

test('digits of every script have the values that Unicode gives them', () => {
  const systems = Intl.supportedValuesOf('numberingSystem');
  let scripts = 0;
  for (const system of systems) {
    const digits = [
      ...new Intl.NumberFormat('en', { numberingSystem: system, useGrouping: false }).format(9_876_543_210),
    ];
    if (digits.length !== 10 || !digits.every((digit) => /\p{Nd}/u.test(digit))) continue;
    expect({ system, text: readPhoneText(digits.join('')).text }).toEqual({ system, text: '9876543210' });
    scripts++;
  }
  expect(scripts).toBeGreaterThan(50);
});

describe('readPhoneText lists the text that it removes', () => {
  test.each([
    ['tel:+64211234567', '+64211234567', ['tel:']],
    ['TEL: 021 123 4567 ', '021 123 4567', ['tel:']],
    ['\u202a+64 21 123 4567\u202c', '+64 21 123 4567', ['\u202a', '\u202c']],
    ['\ufefftel:\u200e021 123 4567', '021 123 4567', ['\ufeff', 'tel:', '\u200e']],
    ['021\u200b123\u00ad4567', '0211234567', ['\u200b', '\u00ad']],
    ['\u00a0021 123 4567\u3000', '021 123 4567', []],
    ['021 123 4567', '021 123 4567', []],
  ])('readPhoneText lists what it removes from %j', (written, text, removed) => {
    expect(readPhoneText(written)).toEqual({ text, removed });
  });
});

test('an unusual form of a number takes the fast path when the plain form does, with the same result', () => {
  let fastCount = 0;
  for (const country of countries.filter((country) => isSupportedCountry(country))) {
    const read = createFastPhoneParser(country);
    const { number, e164 } = aNumber(country, seededIntegers(4));
    for (const odd of [fullWidth, inScript(0x0660), (text: string) => `\u202atel:${text}`]) {
      const written = odd(second.format(number, 2));
      const found = read?.(readPhoneText(written).text);
      if (found === undefined) continue;
      fastCount++;
      const whole: Address | undefined = createAddressReader('voice', country)?.(written);
      expect({ written, e164: found.e164, whole }).toEqual({
        written,
        e164,
        whole: { kind: 'valid', address: e164 },
      });
    }
  }
  expect(fastCount).toBeGreaterThan(30);
});
