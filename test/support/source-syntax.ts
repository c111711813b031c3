import { readFileSync } from 'node:fs';
import { parseAst } from 'vitest/node';

/** A syntax node; its properties depend on its type. */
export type SyntaxNode = Readonly<Record<string, unknown>>;

export const isSyntaxNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Shows each syntax node of a TypeScript or JavaScript file to the caller. */
export function visitSyntax(file: string, look: (node: SyntaxNode) => void): void {
  const visit = (value: unknown): void => {
    if (isSyntaxNode(value)) look(value);
    if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) visit(child);
  };
  visit(parseAst(readFileSync(file, 'utf8'), { lang: 'ts' }));
}
