import { activeText } from '../domain/files.ts';

/** Numbers with a sign are no formulas: `+64211234567`, `-1.50`. */
export const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * Puts an apostrophe before a text that a spreadsheet would run as a formula, and before existing apostrophes. So
 * `contacts/result-file.ts` can restore the text.
 */
export function escapeFormula(text: string): string {
  return activeText.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
