import { htmlEscape } from '../../domain/html.ts';
import { printable } from '../printable.ts';

/** Text as text: escaped, and control characters shown. */
export function escapeText(text: string): string {
  return htmlEscape(printable(text.toWellFormed()));
}
