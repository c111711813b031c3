import type { CountryCode, NumberType } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';
import { z } from 'zod';

/**
 * Fast path for ordinary phone numbers of one country. The library compiles its patterns for each number; here
 * they are compiled once. Other numbers are left to the library. `test/platform/fast-phone-numbers.test.ts`
 * compares both.
 */

type ParsedPhoneNumber = { readonly e164: string; readonly type: NumberType };

/** Returns undefined if the library must decide. */
export type FastPhoneParser = (text: string) => ParsedPhoneNumber | undefined;

/** 0 means absent in the library's metadata. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([schema, z.literal(0)]).transform((value) => (value === 0 ? undefined : value));

const typeMetadata = z
  .union([z.tuple([z.string()]), z.tuple([z.string(), z.array(z.number())])])
  .transform(([pattern, lengths]) => ({ pattern, lengths }));

/** Indexes as in the library's `metadata.js`. */
const countryMetadata = z
  .array(z.unknown())
  .transform((fields) => ({
    callingCode: fields[0],
    internationalPrefix: fields[1],
    national: fields[2],
    lengths: fields[3],
    nationalPrefix: fields[5] ?? 0,
    nationalPrefixForParsing: fields[7] ?? 0,
    leadingDigits: fields[10] ?? 0,
    types: fields[11] ?? [],
  }))
  .pipe(
    z.object({
      callingCode: z.string(),
      internationalPrefix: z.string(),
      national: z.string(),
      lengths: z.array(z.number()),
      nationalPrefix: optional(z.string()),
      nationalPrefixForParsing: optional(z.string()),
      leadingDigits: optional(z.string()),
      types: z.array(optional(typeMetadata)),
    }),
  );
type CountryMetadata = z.output<typeof countryMetadata>;

const typeIndexes = {
  FIXED_LINE: 0,
  MOBILE: 1,
  TOLL_FREE: 2,
  PREMIUM_RATE: 3,
  PERSONAL_NUMBER: 4,
  VOICEMAIL: 5,
  UAN: 6,
  PAGER: 7,
  VOIP: 8,
  SHARED_COST: 9,
} as const;

/** In the library's order, after fixed lines. */
const otherTypes = [
  'MOBILE',
  'PREMIUM_RATE',
  'TOLL_FREE',
  'SHARED_COST',
  'VOIP',
  'PERSONAL_NUMBER',
  'PAGER',
  'UAN',
  'VOICEMAIL',
] as const;

type TypeCheck = (national: string) => boolean;

/** @returns undefined unless the country is the first of its calling code */
export function createFastPhoneParser(country: CountryCode): FastPhoneParser | undefined {
  const numberingPlan = countryMetadata.parse(metadata.countries[country]);
  const { callingCode } = numberingPlan;
  const [first] = metadata.country_calling_codes[callingCode] ?? [];
  if (first !== country || numberingPlan.leadingDigits !== undefined || numberingPlan.types.length === 0)
    return undefined;

  const international = new RegExp(`^(?:${numberingPlan.internationalPrefix})`);
  const prefixSource = numberingPlan.nationalPrefixForParsing ?? numberingPlan.nationalPrefix;
  const prefix = prefixSource === undefined ? undefined : new RegExp(`^(?:${prefixSource})`);
  const isNational = createFullMatch(numberingPlan.national);
  const typeOf = createTypeParser(numberingPlan);

  return (text) => {
    if (text.length > 40 || !/^\+?[\d ().-]+$/.test(text)) return undefined;
    let digits = text.replace(/\D+/g, '');
    if (text.startsWith('+')) {
      if (!digits.startsWith(callingCode)) return undefined;
      digits = digits.slice(callingCode.length);
    } else if (international.test(digits) || digits.startsWith(callingCode)) return undefined;

    const match = prefix?.exec(digits);
    // A prefix that captures a group also rewrites the number.
    if (match?.slice(1).some((group) => group !== undefined)) return undefined;
    const national = match ? digits.slice(match[0].length) : digits;
    if (!numberingPlan.lengths.includes(national.length) || !isNational(national)) return undefined;
    const type = typeOf(national);
    return type === undefined ? undefined : { e164: `+${callingCode}${national}`, type };
  };
}

function createFullMatch(source: string): TypeCheck {
  const pattern = new RegExp(`^(?:${source})$`);
  return (national) => pattern.test(national);
}

/** Like the library's `getNumberType`, for numbers that match the country's general pattern. */
function createTypeParser({ types, lengths }: CountryMetadata): (national: string) => NumberType {
  const check = (name: keyof typeof typeIndexes): TypeCheck => {
    const type = types[typeIndexes[name]];
    if (!type?.pattern) return () => false;
    const matches = createFullMatch(type.pattern);
    const known = type.lengths ?? lengths;
    return (national) => known.includes(national.length) && matches(national);
  };
  const isFixed = check('FIXED_LINE');
  const isMobile = check('MOBILE');
  const mobile = types[typeIndexes.MOBILE];
  const sharesPattern = mobile === undefined || mobile.pattern === '';
  const others = otherTypes.map((name) => [name, check(name)] as const);
  return (national) => {
    if (isFixed(national)) return sharesPattern || isMobile(national) ? 'FIXED_LINE_OR_MOBILE' : 'FIXED_LINE';
    return others.find(([, isType]) => isType(national))?.[0];
  };
}
