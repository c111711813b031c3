import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

/** A syntax node; its properties depend on its type. */
export type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown };

export type Source = {
  /** Relative to `src`. */
  readonly path: string;
  readonly program: Node;
  readonly parents: ReadonlyMap<Node, Node>;
  /** Imports from `src`: local name, file and exported name. */
  readonly imported: ReadonlyMap<string, { readonly path: string; readonly name: string }>;
};

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function child(parent: Node, key: string): Node {
  const value = parent[key];
  if (!isNode(value)) throw new Error(`a ${parent.type} without ${key}`);
  return value;
}

export function children(parent: Node, key: string): readonly (Node | null)[] {
  const value = parent[key];
  if (!Array.isArray(value)) throw new Error(`a ${parent.type} without a list of ${key}`);
  return value.map((each: unknown) => (isNode(each) ? each : null));
}

export const nameOf = (identifier: Node): string => String(identifier['name']);

export function walk(from: Node, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  visit(from, parent);
  for (const value of Object.values(from))
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) walk(each, visit, from);
}

const folder = fileURLToPath(new URL('../../../src', import.meta.url));

export function readSources(): ReadonlyMap<string, Source> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readSource(path.replaceAll('\\', '/'))]));
}

function readSource(path: string): Source {
  const parsed: unknown = parseAst(readFileSync(join(folder, path), 'utf8'), { lang: 'ts' });
  if (!isNode(parsed)) throw new Error(`${path} cannot be read`);
  const parents = new Map<Node, Node>();
  const imported = new Map<string, { path: string; name: string }>();
  walk(parsed, (each, parent) => {
    if (parent) parents.set(each, parent);
    if (each.type !== 'ImportDeclaration') return;
    const from = String(child(each, 'source')['value']);
    if (!from.startsWith('.')) return;
    const target = relative(folder, normalize(join(folder, dirname(path), from))).replaceAll('\\', '/');
    for (const specifier of children(each, 'specifiers'))
      if (specifier?.type === 'ImportSpecifier')
        imported.set(nameOf(child(specifier, 'local')), {
          path: target,
          name: nameOf(child(specifier, 'imported')),
        });
  });
  return { path, program: parsed, parents, imported };
}

/** Line of a node, from 1. */
export function lineOf({ path }: Source, at: Node): number {
  return readFileSync(join(folder, path), 'utf8').slice(0, at.start).split('\n').length;
}
