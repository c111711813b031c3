import { globSync } from 'node:fs';
import { isSyntaxNode, visitSyntax } from './source-syntax.ts';

/** `file`: relative to `src`, without `ledger/`. */
export type SqlText = { readonly file: string; readonly text: string };

/** Statements, and expressions that are put into them. */
const isSql = (text: string): boolean =>
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CASE WHEN|coalesce|jsonb_build_object)\b/.test(text);

/** Each string of `src` with SQL. A `$` stands for what TypeScript puts in, which is a text of its own. */
export function readSqlTexts(): readonly SqlText[] {
  return globSync('src/**/*.ts')
    .sort()
    .flatMap((path) => {
      const texts: string[] = [];
      visitSyntax(path, ({ type, value, quasis }) => {
        if (type === 'Literal') texts.push(String(value));
        if (type === 'TemplateLiteral' && Array.isArray(quasis))
          texts.push(quasis.map(textOfQuasi).join('$'));
      });
      const file = path.replace('src/', '').replace('ledger/', '');
      return texts.filter(isSql).map((text) => ({ file, text: withoutComments(text) }));
    });
}

const withoutComments = (text: string): string => text.replaceAll(/--.*$|\/\*[\s\S]*?\*\//gm, '');

function textOfQuasi(quasi: unknown): string {
  const value = isSyntaxNode(quasi) ? quasi['value'] : undefined;
  return isSyntaxNode(value) ? String(value['cooked']) : '';
}

/** `columns`: those that it sets; none for DELETE. */
export type SqlWrite = SqlText & { readonly table: string; readonly columns: readonly string[] };

const insert = /\bINSERT INTO (\w+)(?:(?:\s+(?:AS )?\w+)?\s*\(([^)]*)\))?/g;
const update =
  /\bUPDATE (\w+)(?:\s+(?:AS )?(?!SET)\w+)?\s+SET\b(.*?)(?=\bFROM\b|\bWHERE\b|\bRETURNING\b|$)/gs;
const assignment = /(?:^|,)\s*(\w+)\s*=/g;

/** The tables that the texts write, also in WITH. */
export function writesOf(texts: readonly SqlText[]): readonly SqlWrite[] {
  return texts.flatMap((each) => [
    ...[...each.text.matchAll(insert)].map(([, table = '', columns = '']) => ({
      ...each,
      table,
      columns: columns.match(/\w+/g) ?? [],
    })),
    ...[...each.text.matchAll(update)].map(([, table = '', set = '']) => ({
      ...each,
      table,
      columns: [...set.matchAll(assignment)].map(([, column = '']) => column),
    })),
    ...[...each.text.matchAll(/\bDELETE FROM (\w+)/g)].map(([, table = '']) => ({
      ...each,
      table,
      columns: [],
    })),
  ]);
}

const counting =
  /\bSELECT\b(?:(?!\bSELECT\b|\bFROM\b).)*\b(?:count|sum)\((?:(?!\bSELECT\b|\bFROM\b).)*(?=\bFROM\b)/gs;

/** The tables whose rows a text counts or adds up: those in FROM of a SELECT with `count` or `sum`. */
export function countedTablesOf({ text }: SqlText): readonly string[] {
  return [...text.matchAll(counting)].flatMap(({ 0: select, index }) => {
    const from = untilClosed(text.slice(index + select.length));
    return [...from.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/g)].map(([, table = '']) => table);
  });
}

/** The text before the bracket that closes what the text is in. */
function untilClosed(text: string): string {
  let depth = 0;
  const end = [...text].findIndex((letter) => {
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
    return depth < 0;
  });
  return end === -1 ? text : text.slice(0, end);
}

/** SQL constants with a space, except durations. */
export function phrasesOf(text: string): readonly string[] {
  return [...withoutComments(text).matchAll(/'((?:[^']|'')*)'/g)]
    .map(([, phrase = '']) => phrase)
    .filter(
      (phrase) => / /.test(phrase) && !/^\d+ (millisecond|second|minute|hour|day|month|s)s?$/.test(phrase),
    );
}
