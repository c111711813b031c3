import { escapeHtml } from '../../domain/html.ts';
import { printable } from '../printable.ts';

export function escapeText(text: string): string {
  return escapeHtml(printable(text.toWellFormed()));
}
