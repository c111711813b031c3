import { as, everyNode, isTree, lastName, listOf, parse } from './syntax.ts';

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

/** Tables whose rows a text counts or adds up: those in FROM of a SELECT with `count` or `sum`. */
export function countedTablesOf(text: string): readonly string[] {
  const found = new Set<string>();
  everyNode(parse(text), (kind, select) => {
    if (kind !== 'SelectStmt') return;
    if (!hasSum(select['targetList'])) return;
    everyNode(select['fromClause'], (inner, node) => {
      if (inner === 'RangeVar') found.add(String(node['relname']));
    });
  });
  return [...found];
}

function hasSum(targets: unknown): boolean {
  let has = false;
  everyNode(targets, (kind, node) => {
    if (kind !== 'FuncCall' || node['over'] !== undefined) return;
    has ||= ['count', 'sum'].includes(lastName(node['funcname']));
  });
  return has;
}
