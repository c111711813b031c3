import { activeText } from '../domain/files.ts';

/** A plain number begins with a sign too, but there is nothing to compute: `+64211234567`, `-1.50`. */
export const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * A text as a cell of a spreadsheet or CSV file: with an apostrophe before it where a program would take it for a formula.
 * What had apostrophes there gets one more, so that the text can be had back (`contacts/result-file.ts`).
 */
export function escapeFormula(text: string): string {
  return activeText.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
