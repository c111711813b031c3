import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { z } from 'zod';
import type { Channel } from '../domain.ts';
import { quickNumberReader } from './quick-numbers.ts';

/** An address in the one form that is compared and sent, or why it cannot be. */
export type Address =
  | { readonly kind: 'valid'; readonly address: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/** Reads addresses of a channel: e-mail addresses, or phone numbers into E.164. */
export type AddressReader = (text: string) => Address;

/**
 * @param country of numbers written without a country code (ISO 3166, two letters)
 * @returns undefined when the country is not one the phone number library knows
 */
export function addressReader(channel: Channel, country: string | undefined): AddressReader | undefined {
  if (channel === 'email') return readEmailAddress;
  if (country !== undefined && !isSupportedCountry(country)) return undefined;
  const quick = country === undefined ? undefined : quickNumberReader(country);
  return (text) => {
    const number = quick?.(text.trim());
    return number ? { kind: 'valid', address: number.e164 } : readPhoneNumber(text, country);
  };
}

function readPhoneNumber(text: string, country: CountryCode | undefined): Address {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'invalid', detail: 'no phone number' };
  // The whole cell must be the number: by default the library picks one out of any text around it.
  const number = parsePhoneNumberFromString(trimmed, {
    ...(country === undefined ? {} : { defaultCountry: country }),
    extract: false,
  });
  if (!number) {
    const hint =
      country === undefined && !trimmed.startsWith('+')
        ? ' (no country code, and the campaign sets no "contacts.country")'
        : '';
    return { kind: 'invalid', detail: `"${trimmed}" is not a phone number${hint}` };
  }
  if (number.ext !== undefined) {
    return { kind: 'invalid', detail: `"${trimmed}" has an extension, "${number.ext}", that would be lost` };
  }
  if (!number.isValid()) {
    return {
      kind: 'invalid',
      detail: `"${trimmed}" is not a number in use in ${number.country ?? country ?? 'its country'}`,
    };
  }
  return { kind: 'valid', address: number.number };
}

const emailAddress = z.email();

function readEmailAddress(text: string): Address {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'invalid', detail: 'no e-mail address' };
  if (!emailAddress.safeParse(trimmed).success) {
    return { kind: 'invalid', detail: `"${trimmed}" is not an e-mail address` };
  }
  const at = trimmed.lastIndexOf('@');
  return { kind: 'valid', address: trimmed.slice(0, at) + trimmed.slice(at).toLowerCase() };
}
