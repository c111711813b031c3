import { domainToASCII } from 'node:url';
import {
  type CountryCode,
  isSupportedCountry,
  type NumberType,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { z } from 'zod';
import type { Campaign } from '../campaign/campaign.ts';
import type { Channel } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { didYouMeanCountry } from '../platform/countries.ts';
import { createFastPhoneParser, type FastPhoneParser } from '../platform/fast-phone-numbers.ts';
import { characterName, firstInvisible, showInvisible } from '../platform/invisible-characters.ts';
import { memoize } from '../platform/memoize.ts';
import { numberAfterZeros } from '../platform/phone-countries.ts';
import { foreignCharacter, readPhoneText } from './phone-text.ts';

export type Address =
  | { readonly kind: 'valid'; readonly address: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Reads e-mail addresses, or phone numbers into E.164.
 *
 * @param country the contact's own, for a number without a country code
 */
export type AddressReader = (text: string, country?: CountryCode) => Address;

/** What to do with an SMS to a number that cannot be a mobile. */
type Landlines = 'reject' | 'allow';

/**
 * @param country default of numbers without a country code (ISO 3166, two letters)
 * @param missingCountryHint explains an invalid number when there is no country
 * @returns undefined: the phone number library does not know the country
 */
export function createAddressReader(
  channel: Channel,
  country: string | undefined,
  landlines: Landlines = 'reject',
  missingCountryHint = 'the campaign sets no "contacts.country"',
): AddressReader | undefined {
  if (channel === 'email') return readEmailAddress;
  if (country !== undefined && !isSupportedCountry(country)) return undefined;
  const mobilesOnly = channel === 'sms' && landlines === 'reject';
  const rules = { mobilesOnly, missingCountryHint };
  return (written, ownCountry = country) => {
    const { text } = readPhoneText(written);
    const fast = ownCountry === undefined ? undefined : fastParserOf(ownCountry)(text);
    // The slow path words the errors.
    const isAccepted = fast !== undefined && !(mobilesOnly && lineWithoutSms(fast.type));
    return isAccepted
      ? { kind: 'valid', address: fast.e164 }
      : readPhoneNumber(text, showInvisible(written.trim()), ownCountry, rules);
  };
}

/** Creating one is slow. */
const fastParserOf = memoize(
  (country: CountryCode): FastPhoneParser => createFastPhoneParser(country) ?? (() => undefined),
);

/**
 * @param text from `readPhoneText`
 * @param shown the number in errors
 */
function readPhoneNumber(
  text: string,
  shown: string,
  country: CountryCode | undefined,
  { mobilesOnly, missingCountryHint }: { readonly mobilesOnly: boolean; readonly missingCountryHint: string },
): Address {
  if (text === '') return invalid('no phone number');
  const foreign = foreignCharacter(text);
  if (foreign !== undefined) {
    return invalid(`"${shown}" contains ${characterName(foreign)}, which cannot be part of a phone number`);
  }
  // The whole cell must be the number: by default the library extracts one from any text.
  const number = parsePhoneNumberFromString(text, {
    ...(country && { defaultCountry: country }),
    extract: false,
  });
  const afterZeros = number?.isValid() ? undefined : numberAfterZeros(text);
  if (afterZeros !== undefined) {
    const whose = country === undefined ? 'not the same everywhere' : `not how ${country} dials abroad`;
    return invalid(`"${shown}" begins with 00, which is ${whose}; write ${afterZeros}`);
  }
  if (!number) {
    const damage = spreadsheetDamage(text);
    if (damage !== undefined) return invalid(`"${shown}" ${damage}`);
    const hint =
      country === undefined && !text.startsWith('+') ? ` (no country code, and ${missingCountryHint})` : '';
    return invalid(`"${shown}" is not a phone number${hint}`);
  }
  if (number.ext !== undefined) {
    return invalid(`"${shown}" has an extension, "${number.ext}", which would be lost`);
  }
  // A number with a type is valid, and most have one. Both checks cost the same, so usually only one runs.
  const type = number.getType();
  if (type === undefined && !number.isValid()) {
    return invalid(`"${shown}" is not a number in use in ${number.country ?? country ?? 'its country'}`);
  }
  const line = mobilesOnly ? lineWithoutSms(type) : undefined;
  if (line !== undefined) return invalid(`"${shown}" is ${line} in ${number.country ?? 'its country'}`);
  return { kind: 'valid', address: number.number };
}

/** Lines that receive no SMS. Internet and personal numbers can, and so can ambiguous types. */
const withoutSms: Readonly<Partial<Record<NonNullable<NumberType>, string>>> = {
  FIXED_LINE: 'a landline',
  PREMIUM_RATE: 'a premium-rate number',
  TOLL_FREE: 'a toll-free number',
  SHARED_COST: 'a shared-cost number',
  UAN: 'a company-wide landline number',
  PAGER: 'a pager',
  VOICEMAIL: 'a voicemail number',
};

function lineWithoutSms(type: NumberType): string | undefined {
  return type === undefined ? undefined : withoutSms[type];
}

const { email: emailPattern } = z.regexes;

/** Characters of an e-mail address (RFC 5321, 4.5.3.1.3). No delivery report could name a longer one. */
const maxEmailLength = 254;

/** Keeps the local part, which the receiving server defines; the domain becomes lower-case ASCII. */
function readEmailAddress(text: string): Address {
  const trimmed = text.trim();
  if (trimmed === '') return invalid('no e-mail address');
  if (trimmed.length > maxEmailLength)
    return invalid(
      `"${trimmed.slice(0, 40)}…" is longer than an e-mail address can be (${maxEmailLength} characters)`,
    );
  const at = trimmed.lastIndexOf('@') + 1;
  const local = trimmed.slice(0, at);
  // Nearly all addresses are ASCII.
  if (emailPattern.test(trimmed)) return { kind: 'valid', address: local + trimmed.slice(at).toLowerCase() };

  const hidden = firstInvisible(trimmed);
  if (hidden !== undefined) {
    return invalid(
      `"${showInvisible(trimmed)}" contains ${characterName(hidden)}, which cannot be part of an e-mail address`,
    );
  }
  const domain = domainToASCII(trimmed.slice(at));
  // The pattern allows only letters in a top-level domain, and `.рф` is `.xn--p1ai` in ASCII.
  const plainDomain = domain.replace(/\.xn--[a-z0-9-]*[a-z0-9]$/, '.idn');
  if (!emailPattern.test(local + plainDomain)) {
    return invalid(`"${trimmed}" ${spreadsheetDamage(trimmed) ?? 'is not an e-mail address'}`);
  }
  return { kind: 'valid', address: local + domain };
}

function invalid(detail: string): Address {
  return { kind: 'invalid', detail };
}

const asText = 'Format the column as text in the spreadsheet and export the list again';

const damagePatterns: readonly (readonly [RegExp, string])[] = [
  [
    /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i,
    `was converted to scientific notation by a spreadsheet, so its last digits are lost. ${asText}`,
  ],
  [/^=\s*".*"?$/, `is a formula that keeps leading zeros in a spreadsheet. ${asText}, without = and quotes`],
  [/^=/, 'is a formula of a spreadsheet, not its result. Export the list with values instead of formulas'],
  [/^'\s*[+\d(]/, `begins with an apostrophe, which marks text in a spreadsheet. ${asText}, without it`],
  [
    /^#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NULL!|NUM!|#+)$/i,
    'is an error value of a spreadsheet. Fix the sheet and export the list again',
  ],
];

/**
 * How a spreadsheet program damaged an address, and the remedy. Completes a sentence, without its full stop;
 * undefined: no known damage.
 */
function spreadsheetDamage(text: string): string | undefined {
  return damagePatterns.find(([pattern]) => pattern.test(text))?.[1];
}

/** @throws InputError for a country without phone numbers */
export function addressReaderOf({ value: { channel, contacts }, locate }: Campaign): AddressReader {
  const { country = '', landlines } = contacts;
  const readAddress = createAddressReader(channel, contacts.country, landlines);
  if (readAddress) return readAddress;
  const what = `"${country}" is not a country with phone numbers.${didYouMeanCountry(country)}`;
  throw new InputError([{ where: locate(['contacts', 'country']), what }]);
}
