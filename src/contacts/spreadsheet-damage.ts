const asText = 'Format the column as text in the spreadsheet and export the list again';

const damages: readonly (readonly [RegExp, string])[] = [
  [
    /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i,
    `is a number that a spreadsheet has shortened, so that its last digits are lost. ${asText}`,
  ],
  [
    /^=\s*".*"?$/,
    `is a formula, with which a spreadsheet was made to keep leading zeros. ${asText}, without = and quotes`,
  ],
  [/^=/, 'is a formula of a spreadsheet, not its result. Export the list with values in place of formulas'],
  [/^'\s*[+\d(]/, `begins with the apostrophe with which a spreadsheet marks text. ${asText}, without it`],
  [
    /^#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NULL!|NUM!|#+)$/i,
    'is an error that a spreadsheet shows in place of a value. Mend the sheet and export the list again',
  ],
];

/**
 * What a spreadsheet program has made of an address: how, and what to do about it, as the rest of a sentence without its
 * full stop; undefined where it looks like none of its doings.
 */
export function spreadsheetDamage(text: string): string | undefined {
  return damages.find(([pattern]) => pattern.test(text))?.[1];
}
