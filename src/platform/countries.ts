import { type CountryCode, getCountries } from 'libphonenumber-js/max';
import { nearestWord, nearly } from './nearest.ts';

/** The code of a country by all that it is called, in small letters without accents and punctuation. */
const codeOf = new Map<string, CountryCode>();
for (const style of ['long', 'short'] as const) {
  const names = new Intl.DisplayNames('en', { type: 'region', style });
  for (const code of getCountries()) codeOf.set(plain(names.of(code) ?? code), code);
}
// Last, so that nothing stands in the way of a code.
for (const code of getCountries()) codeOf.set(plain(code), code);

/** A country by its two-letter code or its English name, in whatever case; undefined when it is none with phone numbers. */
export function countryOf(text: string): CountryCode | undefined {
  return codeOf.get(plain(text));
}

function plain(text: string): string {
  // Most files have codes, which need none of the rest.
  if (/^[A-Za-z]{2}$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^\p{Letter}]+/gu, ' ')
    .trim();
}

/** What people write for countries that are called otherwise by code and name. */
const otherNames: Readonly<Record<string, CountryCode>> = { uk: 'GB', usa: 'US', uae: 'AE', holland: 'NL' };

const nameOf = new Intl.DisplayNames('en', { type: 'region', style: 'long' });

/** " Did you mean …?" for what is no country, or not its code; empty when no country is near. */
export function nearestCountry(text: string): string {
  const wanted = plain(text);
  const names = [...codeOf.keys()].filter((name) => name.length > 3);
  const code = countryOf(text) ?? otherNames[wanted] ?? codeOf.get(nearestWord(wanted, names, nearly) ?? '');
  return code === undefined ? '' : ` Did you mean "${code}" (${nameOf.of(code)})?`;
}
