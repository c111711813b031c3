import type { RenderedFile } from '../../domain/rendered-message.ts';
import { formatBytes } from './preview-text.ts';
import { escapeText } from './text.ts';

export function formatFiles(files: readonly RenderedFile[], title: string): string {
  if (files.length === 0) return '';
  const items = files.map(
    (file) => `<li dir="auto">${escapeText(file.name)} <small>${formatFileSize(file)}</small></li>`,
  );
  return `<div class="files"><span>${title}</span><ul>${items.join('')}</ul></div>\n`;
}

export function formatFileSize({ bytes, pages }: RenderedFile): string {
  const size = formatBytes(bytes);
  if (pages === null) return size;
  return `${size}, ${formatPages(pages)}`;
}

export function formatPages(pages: number): string {
  return pages === 1 ? '1 page' : `${pages} pages`;
}
