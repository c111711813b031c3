import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `where`: such as `docs/tutorial.md:30`. */
export type Piece = { readonly where: string; readonly text: string };
export type Block = Piece & { readonly language: string };

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** In reading order. */
export const documentPaths: readonly string[] = [
  'README.md',
  ...readdirSync(`${projectFolder}/docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .toSorted(),
];

export const readDocument = (path: string): string => readFileSync(`${projectFolder}/${path}`, 'utf8');

const fence = /^( *)```(\w*)\n(.*?)^ *```$/gms;

export function blocksOf(path: string): Block[] {
  const text = readDocument(path);
  return [...text.matchAll(fence)].map(({ index, 1: indent = '', 2: language = '', 3: content = '' }) => ({
    where: `${path}:${lineAt(text, index) + 1}`,
    language,
    text: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

export function inlineCodesOf(path: string): Piece[] {
  const text = readDocument(path).replace(fence, (block) => block.replace(/[^\n]/g, ''));
  return [...text.matchAll(/(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)/g)].map(({ index, 1: code = '' }) => ({
    where: `${path}:${lineAt(text, index)}`,
    text: code.replace(/\s*\n\s*/g, ' ').replaceAll('\\|', '|'),
  }));
}

/** With their continuation lines and here-documents. */
export function shellLinesOf({ where, text }: Block): Piece[] {
  const [path = '', first = '0'] = where.split(/:(?=\d+$)/);
  const lines: Piece[] = [];
  let open: { readonly line: number; readonly text: string } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const whole = open === undefined ? line : `${open.text}\n${line}`;
    const begin = open?.line ?? Number(first) + index;
    if (isOpen(whole)) {
      open = { line: begin, text: whole };
      continue;
    }
    open = undefined;
    if (whole.trim() !== '') lines.push({ where: `${path}:${begin}`, text: whole });
  }
  return lines;
}

function isOpen(text: string): boolean {
  const end = /<<'?(\w+)'?/.exec(text)?.[1];
  if (end !== undefined) return !new RegExp(`^${end}$`, 'm').test(text);
  const count = (letter: string): number => text.replace(/'[^']*'|"[^"]*"|#.*/g, '').split(letter).length;
  return text.endsWith('\\') || count('(') > count(')');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
