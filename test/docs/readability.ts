import { marked, type Token } from 'marked';
import { syllable } from 'syllable';
import { z } from 'zod';
import { documentPaths, readDocument } from '../support/documents.ts';

/** Everything that users read: the documents, and the descriptions of the API, of campaigns and of accounts. */
export const readPaths: readonly string[] = [
  ...documentPaths,
  'docs/reference/openapi.json',
  'campaigns/campaign.schema.json',
  'campaigns/accounts.schema.json',
  'campaigns/rehearsal.schema.json',
];

/** The text of a document, or the descriptions and summaries of a JSON file as paragraphs. */
export function readText(path: string): string {
  const text = readDocument(path);
  return path.endsWith('.json') ? descriptionsIn(JSON.parse(text)).join('\n\n') : text;
}

const described = z.looseObject({ description: z.string().optional(), summary: z.string().optional() });

function descriptionsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { description, summary } = described.safeParse(value).data ?? {};
  const own = [description, summary].filter((text) => text !== undefined);
  return [...own, ...Object.values(value).flatMap(descriptionsIn)];
}

/** How easy a text is to read. Lengths are in words. */
export type Readability = {
  readonly words: number;
  readonly meanSentence: number;
  /** Flesch reading ease: 60 and above is plain English, below 30 is for specialists. */
  readonly ease: number;
};

type Sentence = { readonly text: string; readonly length: number };

/** What every document keeps to; `allWords`: all documents together. */
export const limits = { meanSentence: 17, longestSentence: 35, ease: 55, allWords: 34_800 };

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * The sentences of a Markdown document outside of headings, tables and code blocks. A paragraph or list item ends a
 * sentence, even without a full stop. Code between backticks counts as one short word: it is read as a name.
 */
export function sentencesOf(markdown: string): Sentence[] {
  const paragraphs: string[] = [];
  collectParagraphs(marked.lexer(markdown), paragraphs);
  return paragraphs
    .flatMap((paragraph) => [...segmenter.segment(paragraph)])
    .map(({ segment }) => ({ text: segment.trim(), length: wordsOf(segment).length }))
    .filter(({ length }) => length > 0);
}

/** @param markdown a document with at least one sentence outside of tables */
export function readabilityOf(markdown: string): Readability {
  const sentences = sentencesOf(markdown);
  const words = sentences.flatMap(({ text }) => wordsOf(text));
  const syllables = words.reduce((sum, word) => sum + syllable(word), 0);
  const meanSentence = words.length / sentences.length;
  return {
    words: words.length,
    meanSentence,
    ease: 206.835 - 1.015 * meanSentence - (84.6 * syllables) / words.length,
  };
}

/** How many words a reader meets, also in headings and tables. Only code blocks and the targets of links are left out. */
export const countWords = (markdown: string): number => countIn(marked.lexer(markdown));

function countIn(tokens: readonly Token[]): number {
  return tokens.reduce((sum, token) => sum + countOf(token), 0);
}

function countOf(token: Token): number {
  if (token.type === 'code' || token.type === 'html') return 0;
  if (token.type === 'table') return countCells([token['header'], ...token['rows']].flat());
  if (token.type === 'list') return countIn(token['items']);
  if (
    'tokens' in token &&
    token.tokens !== undefined &&
    token.type !== 'paragraph' &&
    token.type !== 'heading'
  )
    return countIn(token.tokens);
  return wordsOf(proseOf(token)).length;
}

const countCells = (cells: readonly { readonly tokens: readonly Token[] }[]): number =>
  cells.reduce((sum, { tokens }) => sum + wordsOf(tokens.map(proseOf).join('')).length, 0);

const wordsOf = (text: string): string[] => text.match(/\p{L}[\p{L}\p{M}'’-]*|\d[\d,.:]*/gu) ?? [];

function collectParagraphs(tokens: readonly Token[], paragraphs: string[]): void {
  for (const token of tokens) {
    if (token.type === 'paragraph' || token.type === 'text') paragraphs.push(proseOf(token));
    else if (token.type === 'list')
      for (const item of token['items']) collectParagraphs(item.tokens, paragraphs);
    else if (token.type === 'blockquote') collectParagraphs(token.tokens ?? [], paragraphs);
  }
}

function proseOf(token: Token): string {
  if (token.type === 'codespan') return 'Code';
  if (token.type === 'br') return ' ';
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(proseOf).join('');
  return 'text' in token ? String(token.text).replaceAll('\n', ' ') : '';
}

/** Prints a line for each document, every sentence that is too long, and the sum: `node test/docs/readability.ts [path…]`. */
function printReadability(paths: readonly string[]): void {
  for (const path of paths) {
    const markdown = readText(path);
    const { words, meanSentence, ease } = readabilityOf(markdown);
    const all = `${String(countWords(markdown)).padStart(6)} words`;
    const figures = `${all}, in sentences ${words}, ${meanSentence.toFixed(1)} a sentence, ease ${ease.toFixed(0)}`;
    console.log(`${path.padEnd(48)} ${figures}`);
    for (const { text, length } of sentencesOf(markdown)) {
      if (length > limits.longestSentence) console.log(`    ${length} words: ${text}`);
    }
  }
  const documents = paths.filter((path) => path.endsWith('.md')).map((path) => countWords(readText(path)));
  console.log(`${documents.reduce((sum, words) => sum + words, 0)} words in all documents`);
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  printReadability(named.length > 0 ? named : readPaths);
}
