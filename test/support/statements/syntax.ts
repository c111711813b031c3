import { parseSync } from 'libpg-query';

/** Reads trees of `libpg-query`, whose nodes are objects with one key, their type. */

export type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The content of a node of this type; undefined for others. */
export function as(kind: string, value: unknown): Tree | undefined {
  const inner = isTree(value) ? value[kind] : undefined;
  return isTree(inner) ? inner : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return String(as('String', value)?.['sval'] ?? '');
}

/** A name without its schema. */
export function lastName(parts: unknown): string {
  return textOf(listOf(parts).at(-1));
}

export function everyNode(value: unknown, visit: (kind: string, node: Tree) => void): void {
  if (Array.isArray(value)) for (const each of value) everyNode(each, visit);
  else if (isTree(value))
    for (const [kind, inner] of Object.entries(value)) {
      if (isTree(inner)) visit(kind, inner);
      everyNode(inner, visit);
    }
}

/** Statements of a text. A `?` of knex counts as a parameter. */
export function parse(text: string): readonly unknown[] {
  const parsed: unknown = parseSync(text.replaceAll(/\?(?=[,)])/g, '$1'));
  return listOf(isTree(parsed) ? parsed['stmts'] : undefined).map((each) => isTree(each) && each['stmt']);
}
