import { htmlEscape } from '../../domain/html.ts';
import { printable } from '../printable.ts';

export function escapeText(text: string): string {
  return htmlEscape(printable(text.toWellFormed()));
}
