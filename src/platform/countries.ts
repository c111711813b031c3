import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max';
import { closestWord, oneErrorInFive } from './suggestions.ts';

const twoLetters = /^[A-Za-z]{2}$/;

let codesByName: ReadonlyMap<string, CountryCode> | undefined;

/**
 * Names in lower case without accents and punctuation. Built on demand: it takes 20 ms, and most files contain
 * codes.
 */
function countryCodesByName(): ReadonlyMap<string, CountryCode> {
  if (codesByName) return codesByName;
  const made = new Map<string, CountryCode>();
  for (const style of ['long', 'short'] as const) {
    const names = new Intl.DisplayNames('en', { type: 'region', style });
    for (const code of getCountries()) made.set(normalizeName(names.of(code) ?? code), code);
  }
  // Codes last, so that no name replaces one.
  for (const code of getCountries()) made.set(normalizeName(code), code);
  codesByName = made;
  return made;
}

/** Finds a country with phone numbers by its code or English name, in any case. */
export function countryOf(text: string): CountryCode | undefined {
  const code = twoLetters.test(text) ? text.toUpperCase() : '';
  return isSupportedCountry(code) ? code : countryCodesByName().get(normalizeName(text));
}

function normalizeName(text: string): string {
  if (twoLetters.test(text)) return text.toLowerCase();
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^\p{Letter}]+/gu, ' ')
    .trim();
}

const otherNames: Readonly<Record<string, CountryCode>> = { uk: 'GB', usa: 'US', uae: 'AE', holland: 'NL' };

/** " Did you mean …?", or nothing if no country is close. */
export function didYouMeanCountry(text: string): string {
  const wanted = normalizeName(text);
  const names = [...countryCodesByName().keys()].filter((name) => name.length > 3);
  const code =
    countryOf(text) ??
    otherNames[wanted] ??
    countryCodesByName().get(closestWord(wanted, names, oneErrorInFive) ?? '');
  if (code === undefined) return '';
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(code);
  return ` Did you mean "${code}" (${name})?`;
}

/** What was expected instead of a text that is no country. */
export function expectedCountry(text: string): string {
  return `expected a country with phone numbers, such as NZ.${didYouMeanCountry(text)}`;
}
