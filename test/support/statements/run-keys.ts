import { as, isTree, lastName, listOf, type Tree, textOf } from './syntax.ts';

/** Tables and functions that could be distributed by run. */
export type RunTables = {
  /** Tables whose key begins with the run, and views with a run in each row. */
  readonly tables: ReadonlySet<string>;
  /** Functions that return rows of the run in their first parameter. */
  readonly functions: ReadonlySet<string>;
};

/** A source of rows in a statement. Sources of the same run are merged. */
type Rows = { readonly table: string; sameAs: Rows | undefined };
type Scope = {
  readonly parent: Scope | undefined;
  readonly byName: Map<string, Rows>;
  readonly all: Rows[];
  readonly common: Set<string>;
};

const settled = (rows: Rows): Rows => (rows.sameAs ? settled(rows.sameAs) : rows);

/**
 * Tables of runs in a statement whose run is unknown: it equals neither a parameter, nor a column of other rows (a
 * parameter, a common table expression), nor the run of a known table.
 */
export function tablesWithoutRun(statement: unknown, runTables: RunTables): readonly string[] {
  /** Represents all rows with a known run. */
  const known: Rows = { table: '', sameAs: undefined };
  const found: Rows[] = [];

  const inner = (parent: Scope | undefined): Scope => ({
    parent,
    byName: new Map(),
    all: [],
    common: new Set(parent?.common),
  });

  function same(one: Rows, other: Rows): void {
    const [first, second] = [settled(one), settled(other)];
    if (first === second) return;
    if (first === known) second.sameAs = first;
    else first.sameAs = second;
  }

  function add(scope: Scope, table: string, name: string): Rows {
    const ofRuns =
      (runTables.tables.has(table) && !scope.common.has(table)) || runTables.functions.has(table);
    const rows: Rows = { table, sameAs: ofRuns ? undefined : known };
    if (ofRuns) found.push(rows);
    scope.byName.set(name, rows);
    scope.all.push(rows);
    return rows;
  }

  /** The source whose run an expression is. */
  function rowsOf(expression: unknown, scope: Scope): Rows | undefined {
    const cast = as('TypeCast', expression);
    if (cast) return rowsOf(cast['arg'], scope);
    const column = as('ColumnRef', expression);
    if (column) return rowsOfColumn(listOf(column['fields']).map(textOf), scope);
    if (as('SubLink', expression) || as('ParamRef', expression) || as('A_Const', expression)) return known;
    const call = as('FuncCall', expression);
    if (call) return listOf(call['args']).every((each) => rowsOf(each, scope) === known) ? known : undefined;
    return undefined;
  }

  function rowsOfColumn(path: readonly string[], scope: Scope): Rows | undefined {
    const [name = '', column] = path.length > 1 ? path : [undefined, path[0]];
    for (let each: Scope | undefined = scope; each; each = each.parent) {
      const rows = path.length > 1 ? each.byName.get(name) : firstWith(column ?? '', each);
      if (rows)
        return rows.sameAs === known && !found.includes(rows)
          ? known
          : column === 'run_id'
            ? rows
            : undefined;
    }
    return undefined;
  }

  /** Without an alias, the run belongs to a table of runs if there is one. */
  function firstWith(column: string, scope: Scope): Rows | undefined {
    const ofRuns = scope.all.find((rows) => found.includes(rows));
    if (column === 'run_id' && ofRuns) return ofRuns;
    return scope.all.find((rows) => !found.includes(rows));
  }

  function equal(left: unknown, right: unknown, scope: Scope): void {
    const [lefts, rights] = [as('RowExpr', left), as('RowExpr', right)];
    if (lefts && rights)
      for (const [index, each] of listOf(lefts['args']).entries())
        equal(each, listOf(rights['args'])[index], scope);
    else if (lefts) for (const each of listOf(lefts['args'])) oneOf(each, scope);
    else {
      const [one, other] = [rowsOf(left, scope), rowsOf(right, scope)];
      if (one && other) same(one, other);
    }
  }

  /** An element of a list or a subquery, which is checked by itself. */
  function oneOf(expression: unknown, scope: Scope): void {
    for (const each of as('RowExpr', expression)
      ? listOf(as('RowExpr', expression)?.['args'])
      : [expression]) {
      const rows = as('ColumnRef', each) && rowsOf(each, scope);
      if (rows) same(rows, known);
    }
  }

  /** Conditions that hold for every row, so no parts of an OR. */
  function condition(expression: unknown, scope: Scope): void {
    const bool = as('BoolExpr', expression);
    if (bool?.['boolop'] === 'AND_EXPR') for (const each of listOf(bool['args'])) condition(each, scope);
    const comparison = as('A_Expr', expression);
    if (comparison && lastName(comparison['name']) === '=') {
      const kind = comparison['kind'];
      if (kind === 'AEXPR_OP' || kind === 'AEXPR_NOT_DISTINCT')
        equal(comparison['lexpr'], comparison['rexpr'], scope);
      if (kind === 'AEXPR_OP_ANY' || kind === 'AEXPR_IN') oneOf(comparison['lexpr'], scope);
    }
    const link = as('SubLink', expression);
    if (link?.['subLinkType'] === 'ANY_SUBLINK') oneOf(link['testexpr'], scope);
    if (bool?.['boolop'] !== 'AND_EXPR') nested(expression, scope);
  }

  /** Subqueries of an expression. */
  function nested(value: unknown, scope: Scope): void {
    if (Array.isArray(value)) for (const each of value) nested(each, scope);
    else if (isTree(value))
      for (const [kind, node] of Object.entries(value)) {
        if (kind === 'SelectStmt' && isTree(node)) select(node, scope);
        else nested(node, scope);
      }
  }

  function from(item: unknown, scope: Scope): readonly Rows[] {
    const table = as('RangeVar', item);
    if (table) return [add(scope, String(table['relname']), aliasOf(table) ?? String(table['relname']))];
    const query = as('RangeSubselect', item);
    if (query) {
      nested(query['subquery'], scope);
      return [add(scope, '', aliasOf(query) ?? '')];
    }
    const join = as('JoinExpr', item);
    if (join) {
      const [left, right] = [from(join['larg'], scope), from(join['rarg'], scope)];
      if (listOf(join['usingClause']).some((each) => textOf(each) === 'run_id')) using(left, right);
      condition(join['quals'], scope);
      return [...left, ...right];
    }
    const called = as('RangeFunction', item);
    if (!called) return [];
    return [callOf(called, scope)];
  }

  function callOf(called: Tree, scope: Scope): Rows {
    const [first] = listOf(as('List', listOf(called['functions'])[0])?.['items']);
    const call = as('FuncCall', first);
    const name = lastName(call?.['funcname']);
    const [run] = listOf(call?.['args']);
    const rows = run === undefined ? undefined : rowsOf(run, scope);
    nested(called['functions'], scope);
    const added = add(scope, name, aliasOf(called) ?? name);
    if (rows) same(added, rows);
    return added;
  }

  function using(left: readonly Rows[], right: readonly Rows[]): void {
    const ofRuns = (side: readonly Rows[]): Rows => side.find((rows) => found.includes(rows)) ?? known;
    same(ofRuns(left), ofRuns(right));
  }

  function common(statement: Tree, scope: Scope): void {
    const expressions = listOf(isTree(statement['withClause']) ? statement['withClause']['ctes'] : []);
    for (const each of expressions) scope.common.add(String(as('CommonTableExpr', each)?.['ctename']));
    for (const each of expressions) any(as('CommonTableExpr', each)?.['ctequery'], scope);
  }

  function select(statement: Tree, parent: Scope): void {
    const scope = inner(parent);
    common(statement, scope);
    for (const side of ['larg', 'rarg']) if (isTree(statement[side])) select(statement[side], scope);
    for (const item of listOf(statement['fromClause'])) from(item, scope);
    condition(statement['whereClause'], scope);
    const { withClause, larg, rarg, fromClause, whereClause, ...rest } = statement;
    nested(rest, scope);
  }

  /** The rows that an INSERT, UPDATE, DELETE or MERGE writes, with their conditions. */
  function write(statement: Tree, parent: Scope): void {
    const scope = inner(parent);
    common(statement, scope);
    const relation = isTree(statement['relation']) ? statement['relation'] : {};
    const target = add(scope, String(relation['relname']), aliasOf(relation) ?? String(relation['relname']));
    const columns = listOf(statement['cols']).map((each) => as('ResTarget', each)?.['name']);
    if (columns.includes('run_id')) same(target, known);
    for (const item of [...listOf(statement['fromClause']), ...listOf(statement['usingClause'])])
      from(item, scope);
    condition(statement['whereClause'], scope);
    const { withClause, relation: _, fromClause, usingClause, whereClause, ...rest } = statement;
    nested(rest, scope);
  }

  function any(statement: unknown, scope: Scope): void {
    if (!isTree(statement)) return;
    for (const [kind, node] of Object.entries(statement)) {
      if (!isTree(node)) continue;
      if (kind === 'SelectStmt') select(node, scope);
      else if (/^(Insert|Update|Delete|Merge)Stmt$/.test(kind)) write(node, scope);
      else if (/^(CreateTableAs|DeclareCursor)Stmt$/.test(kind)) any(node['query'], scope);
      else if (kind === 'TruncateStmt' || kind === 'CopyStmt')
        for (const each of [node['relation'], ...listOf(node['relations'])])
          from(isTree(each) && 'relname' in each ? { RangeVar: each } : each, scope);
    }
  }

  any(statement, inner(undefined));
  return [...new Set(found.filter((rows) => settled(rows) !== known).map(({ table }) => table))].sort();
}

function aliasOf(item: Tree): string | undefined {
  const alias = item['alias'];
  return isTree(alias) ? String(alias['aliasname']) : undefined;
}
