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
export function spreadsheetDamage(text: string): string | undefined {
  return damagePatterns.find(([pattern]) => pattern.test(text))?.[1];
}
