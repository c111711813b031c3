import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max';
import { closestWord, oneErrorInFive } from './suggestions.ts';

const twoLetters = /^[A-Za-z]{2}$/;

let codesByName: ReadonlyMap<string, CountryCode> | undefined;

/**
 * The codes of countries by all that they are called, in small letters without accents and punctuation. Made when it is
 * first asked for: it takes 20 ms of a command's start, and most files have codes.
 */
function countryCodesByName(): ReadonlyMap<string, CountryCode> {
  if (codesByName) return codesByName;
  const made = new Map<string, CountryCode>();
  for (const style of ['long', 'short'] as const) {
    const names = new Intl.DisplayNames('en', { type: 'region', style });
    for (const code of getCountries()) made.set(normalizeName(names.of(code) ?? code), code);
  }
  // Last, so that nothing stands in the way of a code.
  for (const code of getCountries()) made.set(normalizeName(code), code);
  codesByName = made;
  return made;
}

/** A country by its two-letter code or its English name, in whatever case; undefined when it is none with phone numbers. */
export function countryOf(text: string): CountryCode | undefined {
  const code = twoLetters.test(text) ? text.toUpperCase() : '';
  return isSupportedCountry(code) ? code : countryCodesByName().get(normalizeName(text));
}

function normalizeName(text: string): string {
  // Most files have codes, which need none of the rest.
  if (twoLetters.test(text)) return text.toLowerCase();
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^\p{Letter}]+/gu, ' ')
    .trim();
}

const otherNames: Readonly<Record<string, CountryCode>> = { uk: 'GB', usa: 'US', uae: 'AE', holland: 'NL' };

/** " Did you mean …?" for what is no country, or not its code; empty when no country is near. */
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
