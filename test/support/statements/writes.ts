import { as, everyNode, isTree, listOf, parse } from './syntax.ts';

export type Write = {
  readonly table: string;
  /** Columns that it sets; none for DELETE. */
  readonly columns: readonly string[];
};

/** Tables that a text writes, also in WITH. */
export function writesOf(text: string): readonly Write[] {
  const found: Write[] = [];
  everyNode(parse(text), (kind, node) => {
    if (!/^(Insert|Update|Delete)Stmt$/.test(kind)) return;
    const relation = node['relation'];
    const table = isTree(relation) ? String(relation['relname']) : '';
    const set = [...listOf(node['cols']), ...listOf(node['targetList'])];
    found.push({ table, columns: set.map((each) => String(as('ResTarget', each)?.['name'] ?? '')) });
  });
  return found;
}
