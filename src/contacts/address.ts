import { domainToASCII } from 'node:url';
import {
  type CountryCode,
  isSupportedCountry,
  type NumberType,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { z } from 'zod';
import type { Channel } from '../domain/message.ts';
import { createFastPhoneParser, type FastPhoneParser } from '../platform/fast-phone-numbers.ts';
import { characterName, firstInvisible, showInvisible } from '../platform/invisible-characters.ts';
import { foreignCharacter, readPhoneText } from './phone-text.ts';
import { spreadsheetDamage } from './spreadsheet-damage.ts';

/** An address in the one form that is compared and sent, or why it cannot be. */
export type Address =
  | { readonly kind: 'valid'; readonly address: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Reads addresses of a channel: e-mail addresses, or phone numbers into E.164.
 *
 * @param country the contact's own, for a number that is written without a country code
 */
export type AddressReader = (text: string, country?: CountryCode) => Address;

/** What becomes of an SMS to a number that cannot be a mobile. */
export type Landlines = 'reject' | 'allow';

/**
 * @param country of numbers written without a country code (ISO 3166, two letters)
 * @param missingCountryHint said of such a number where there is no country
 * @returns undefined when the country is not one the phone number library knows
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
  return (written, ownCountry = country) => {
    const { text } = readPhoneText(written);
    const fast = ownCountry === undefined ? undefined : fastParserOf(ownCountry)?.(text);
    // A number that is refused is refused in the words of the slow way.
    const isAccepted = fast !== undefined && !(mobilesOnly && lineWithoutSms(fast.type));
    return isAccepted
      ? { kind: 'valid', address: fast.e164 }
      : readPhoneNumber(text, showInvisible(written.trim()), ownCountry, mobilesOnly, missingCountryHint);
  };
}

/** Once a country, not once a row. */
const fastParsers = new Map<CountryCode, FastPhoneParser | undefined>();

function fastParserOf(country: CountryCode): FastPhoneParser | undefined {
  if (!fastParsers.has(country)) fastParsers.set(country, createFastPhoneParser(country));
  return fastParsers.get(country);
}

/**
 * @param text as `readPhoneText` gives it
 * @param shown what errors show of it
 */
function readPhoneNumber(
  text: string,
  shown: string,
  country: CountryCode | undefined,
  mobilesOnly: boolean,
  missingCountryHint: string,
): Address {
  if (text === '') return invalid('no phone number');
  const foreign = foreignCharacter(text);
  if (foreign !== undefined) {
    return invalid(`"${shown}" holds ${characterName(foreign)}, which is no part of a phone number`);
  }
  // The whole cell must be the number: by default the library picks one out of any text around it.
  const number = parsePhoneNumberFromString(text, phoneOptions(country));
  if (!number) {
    const damage = spreadsheetDamage(text);
    if (damage !== undefined) return invalid(`"${shown}" ${damage}`);
    const hint =
      country === undefined && !text.startsWith('+') ? ` (no country code, and ${missingCountryHint})` : '';
    return invalid(`"${shown}" is not a phone number${hint}`);
  }
  if (number.ext !== undefined) {
    return invalid(`"${shown}" has an extension, "${number.ext}", that would be lost`);
  }
  // Most numbers have a type, and one that has is valid; both questions cost the same, so only one is asked.
  const type = number.getType();
  if (type === undefined && !number.isValid()) {
    return invalid(`"${shown}" is not a number in use in ${number.country ?? country ?? 'its country'}`);
  }
  const line = mobilesOnly ? lineWithoutSms(type) : undefined;
  if (line !== undefined) return invalid(`"${shown}" is ${line} in ${number.country ?? 'its country'}`);
  return { kind: 'valid', address: number.number };
}

/** Lines that take no SMS. Internet telephones and personal numbers may, and so may what is either. */
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

type PhoneOptions = { readonly defaultCountry?: CountryCode; readonly extract: false };

/** Once a country, not once a row. */
const phoneOptionsOf = new Map<CountryCode | undefined, PhoneOptions>([[undefined, { extract: false }]]);

function phoneOptions(country: CountryCode | undefined): PhoneOptions {
  const known = phoneOptionsOf.get(country);
  if (known) return known;
  const options: PhoneOptions =
    country === undefined ? { extract: false } : { defaultCountry: country, extract: false };
  phoneOptionsOf.set(country, options);
  return options;
}

const { email: emailPattern } = z.regexes;

/** Characters of an e-mail address (RFC 5321, 4.5.3.1.3). A longer one no report could be about. */
const maxEmailLength = 254;

/** The local part is the receiving server's business; the domain has one form: small letters, ASCII. */
function readEmailAddress(text: string): Address {
  const trimmed = text.trim();
  if (trimmed === '') return invalid('no e-mail address');
  if (trimmed.length > maxEmailLength)
    return invalid(
      `"${trimmed.slice(0, 40)}…" is longer than an e-mail address can be (${maxEmailLength} characters)`,
    );
  const at = trimmed.lastIndexOf('@') + 1;
  const local = trimmed.slice(0, at);
  // What the pattern takes is ASCII already, as nearly all addresses are.
  if (emailPattern.test(trimmed)) return { kind: 'valid', address: local + trimmed.slice(at).toLowerCase() };

  const hidden = firstInvisible(trimmed);
  if (hidden !== undefined) {
    return invalid(
      `"${showInvisible(trimmed)}" holds ${characterName(hidden)}, which is no part of an e-mail address`,
    );
  }
  const domain = domainToASCII(trimmed.slice(at));
  // The pattern takes letters alone for a top-level domain, and `.рф` is `.xn--p1ai` in ASCII.
  const plainDomain = domain.replace(/\.xn--[a-z0-9-]*[a-z0-9]$/, '.idn');
  if (!emailPattern.test(local + plainDomain)) {
    return invalid(`"${trimmed}" ${spreadsheetDamage(trimmed) ?? 'is not an e-mail address'}`);
  }
  return { kind: 'valid', address: local + domain };
}

function invalid(detail: string): Address {
  return { kind: 'invalid', detail };
}
