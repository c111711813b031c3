import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max';
import { nearestWord, nearly } from './nearest.ts';

const twoLetters = /^[A-Za-z]{2}$/;

let codes: ReadonlyMap<string, CountryCode> | undefined;

/**
 * The codes of countries by all that they are called, in small letters without accents and punctuation. Made when it is
 * first asked for: it takes 20 ms of a command's start, and most files have codes.
 */
function codeOf(): ReadonlyMap<string, CountryCode> {
  if (codes) return codes;
  const made = new Map<string, CountryCode>();
  for (const style of ['long', 'short'] as const) {
    const names = new Intl.DisplayNames('en', { type: 'region', style });
    for (const code of getCountries()) made.set(plain(names.of(code) ?? code), code);
  }
  // Last, so that nothing stands in the way of a code.
  for (const code of getCountries()) made.set(plain(code), code);
  codes = made;
  return made;
}

/** A country by its two-letter code or its English name, in whatever case; undefined when it is none with phone numbers. */
export function countryOf(text: string): CountryCode | undefined {
  const code = twoLetters.test(text) ? text.toUpperCase() : '';
  return isSupportedCountry(code) ? code : codeOf().get(plain(text));
}

function plain(text: string): string {
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
export function nearestCountry(text: string): string {
  const wanted = plain(text);
  const names = [...codeOf().keys()].filter((name) => name.length > 3);
  const code =
    countryOf(text) ?? otherNames[wanted] ?? codeOf().get(nearestWord(wanted, names, nearly) ?? '');
  if (code === undefined) return '';
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(code);
  return ` Did you mean "${code}" (${name})?`;
}
