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

/** All rows with a known run. */
const known: Rows = { table: '', sameAs: undefined };

const innerScope = (parent: Scope | undefined): Scope => ({
  parent,
  byName: new Map(),
  all: [],
  common: new Set(parent?.common),
});

/**
 * Tables of runs in a statement whose run is unknown: it equals neither a parameter, nor a column of other rows (a
 * parameter, a common table expression), nor the run of a known table.
 */
export function tablesWithoutRun(statement: unknown, runTables: RunTables): readonly string[] {
  return new RunKeys(runTables).tablesWithoutRun(statement);
}

class RunKeys {
  readonly #runTables: RunTables;
  readonly #found: Rows[] = [];

  constructor(runTables: RunTables) {
    this.#runTables = runTables;
  }

  tablesWithoutRun(statement: unknown): readonly string[] {
    this.#visit(statement, innerScope(undefined));
    const unknown = this.#found.filter((rows) => settled(rows) !== known);
    return [...new Set(unknown.map(({ table }) => table))].sort();
  }

  #merge(one: Rows, other: Rows): void {
    const [first, second] = [settled(one), settled(other)];
    if (first === second) return;
    if (first === known) second.sameAs = first;
    else first.sameAs = second;
  }

  #add(scope: Scope, table: string, name: string): Rows {
    const ofRuns =
      (this.#runTables.tables.has(table) && !scope.common.has(table)) || this.#runTables.functions.has(table);
    const rows: Rows = { table, sameAs: ofRuns ? undefined : known };
    if (ofRuns) this.#found.push(rows);
    scope.byName.set(name, rows);
    scope.all.push(rows);
    return rows;
  }

  /** The source whose run an expression is. */
  #rowsOf(expression: unknown, scope: Scope): Rows | undefined {
    const cast = as('TypeCast', expression);
    if (cast) return this.#rowsOf(cast['arg'], scope);
    const column = as('ColumnRef', expression);
    if (column) return this.#rowsOfColumn(listOf(column['fields']).map(textOf), scope);
    if (as('SubLink', expression) || as('ParamRef', expression) || as('A_Const', expression)) return known;
    const call = as('FuncCall', expression);
    if (call)
      return listOf(call['args']).every((each) => this.#rowsOf(each, scope) === known) ? known : undefined;
    return undefined;
  }

  #rowsOfColumn(path: readonly string[], scope: Scope): Rows | undefined {
    const [name = '', column] = path.length > 1 ? path : [undefined, path[0]];
    for (let each: Scope | undefined = scope; each; each = each.parent) {
      const rows = path.length > 1 ? each.byName.get(name) : this.#findRowsWithColumn(column ?? '', each);
      if (rows)
        return rows.sameAs === known && !this.#found.includes(rows)
          ? known
          : column === 'run_id'
            ? rows
            : undefined;
    }
    return undefined;
  }

  /** Without an alias, the run belongs to a table of runs if there is one. */
  #findRowsWithColumn(column: string, scope: Scope): Rows | undefined {
    const ofRuns = scope.all.find((rows) => this.#found.includes(rows));
    if (column === 'run_id' && ofRuns) return ofRuns;
    return scope.all.find((rows) => !this.#found.includes(rows));
  }

  #equal(left: unknown, right: unknown, scope: Scope): void {
    const [lefts, rights] = [as('RowExpr', left), as('RowExpr', right)];
    if (lefts && rights)
      for (const [index, each] of listOf(lefts['args']).entries())
        this.#equal(each, listOf(rights['args'])[index], scope);
    else if (lefts) for (const each of listOf(lefts['args'])) this.#oneOf(each, scope);
    else {
      const [one, other] = [this.#rowsOf(left, scope), this.#rowsOf(right, scope)];
      if (one && other) this.#merge(one, other);
    }
  }

  /** An element of a list or a subquery, which is checked by itself. */
  #oneOf(expression: unknown, scope: Scope): void {
    for (const each of as('RowExpr', expression)
      ? listOf(as('RowExpr', expression)?.['args'])
      : [expression]) {
      const rows = as('ColumnRef', each) && this.#rowsOf(each, scope);
      if (rows) this.#merge(rows, known);
    }
  }

  /** Conditions for every row: no parts of an OR. */
  #condition(expression: unknown, scope: Scope): void {
    const bool = as('BoolExpr', expression);
    if (bool?.['boolop'] === 'AND_EXPR')
      for (const each of listOf(bool['args'])) this.#condition(each, scope);
    const comparison = as('A_Expr', expression);
    if (comparison && lastName(comparison['name']) === '=') {
      const kind = comparison['kind'];
      if (kind === 'AEXPR_OP' || kind === 'AEXPR_NOT_DISTINCT')
        this.#equal(comparison['lexpr'], comparison['rexpr'], scope);
      if (kind === 'AEXPR_OP_ANY' || kind === 'AEXPR_IN') this.#oneOf(comparison['lexpr'], scope);
    }
    const link = as('SubLink', expression);
    if (link?.['subLinkType'] === 'ANY_SUBLINK') this.#oneOf(link['testexpr'], scope);
    if (bool?.['boolop'] !== 'AND_EXPR') this.#nested(expression, scope);
  }

  /** Subqueries of an expression. */
  #nested(value: unknown, scope: Scope): void {
    if (Array.isArray(value)) for (const each of value) this.#nested(each, scope);
    else if (isTree(value))
      for (const [kind, node] of Object.entries(value)) {
        if (kind === 'SelectStmt' && isTree(node)) this.#select(node, scope);
        else this.#nested(node, scope);
      }
  }

  #from(item: unknown, scope: Scope): readonly Rows[] {
    const table = as('RangeVar', item);
    if (table)
      return [this.#add(scope, String(table['relname']), aliasOf(table) ?? String(table['relname']))];
    const query = as('RangeSubselect', item);
    if (query) {
      this.#nested(query['subquery'], scope);
      return [this.#add(scope, '', aliasOf(query) ?? '')];
    }
    const join = as('JoinExpr', item);
    if (join) {
      const [left, right] = [this.#from(join['larg'], scope), this.#from(join['rarg'], scope)];
      if (listOf(join['usingClause']).some((each) => textOf(each) === 'run_id')) this.#using(left, right);
      this.#condition(join['quals'], scope);
      return [...left, ...right];
    }
    const called = as('RangeFunction', item);
    if (!called) return [];
    return [this.#callOf(called, scope)];
  }

  #callOf(called: Tree, scope: Scope): Rows {
    const [first] = listOf(as('List', listOf(called['functions'])[0])?.['items']);
    const call = as('FuncCall', first);
    const name = lastName(call?.['funcname']);
    const [run] = listOf(call?.['args']);
    const rows = run === undefined ? undefined : this.#rowsOf(run, scope);
    this.#nested(called['functions'], scope);
    const added = this.#add(scope, name, aliasOf(called) ?? name);
    if (rows) this.#merge(added, rows);
    return added;
  }

  #using(left: readonly Rows[], right: readonly Rows[]): void {
    const ofRuns = (side: readonly Rows[]): Rows => side.find((rows) => this.#found.includes(rows)) ?? known;
    this.#merge(ofRuns(left), ofRuns(right));
  }

  #common(statement: Tree, scope: Scope): void {
    const expressions = listOf(isTree(statement['withClause']) ? statement['withClause']['ctes'] : []);
    for (const each of expressions) scope.common.add(String(as('CommonTableExpr', each)?.['ctename']));
    for (const each of expressions) this.#visit(as('CommonTableExpr', each)?.['ctequery'], scope);
  }

  #select(statement: Tree, parent: Scope): void {
    const scope = innerScope(parent);
    this.#common(statement, scope);
    for (const side of ['larg', 'rarg']) if (isTree(statement[side])) this.#select(statement[side], scope);
    for (const item of listOf(statement['fromClause'])) this.#from(item, scope);
    this.#condition(statement['whereClause'], scope);
    const { withClause, larg, rarg, fromClause, whereClause, ...rest } = statement;
    this.#nested(rest, scope);
  }

  #write(statement: Tree, parent: Scope): void {
    const scope = innerScope(parent);
    this.#common(statement, scope);
    const relation = isTree(statement['relation']) ? statement['relation'] : {};
    const target = this.#add(
      scope,
      String(relation['relname']),
      aliasOf(relation) ?? String(relation['relname']),
    );
    const columns = listOf(statement['cols']).map((each) => as('ResTarget', each)?.['name']);
    if (columns.includes('run_id')) this.#merge(target, known);
    for (const item of [...listOf(statement['fromClause']), ...listOf(statement['usingClause'])])
      this.#from(item, scope);
    this.#condition(statement['whereClause'], scope);
    const { withClause, relation: _, fromClause, usingClause, whereClause, ...rest } = statement;
    this.#nested(rest, scope);
  }

  #visit(statement: unknown, scope: Scope): void {
    if (!isTree(statement)) return;
    for (const [kind, node] of Object.entries(statement)) {
      if (!isTree(node)) continue;
      if (kind === 'SelectStmt') this.#select(node, scope);
      else if (/^(Insert|Update|Delete|Merge)Stmt$/.test(kind)) this.#write(node, scope);
      else if (/^(CreateTableAs|DeclareCursor)Stmt$/.test(kind)) this.#visit(node['query'], scope);
      else if (kind === 'TruncateStmt' || kind === 'CopyStmt')
        for (const each of [node['relation'], ...listOf(node['relations'])])
          this.#from(isTree(each) && 'relname' in each ? { RangeVar: each } : each, scope);
    }
  }
}

function aliasOf(item: Tree): string | undefined {
  const alias = item['alias'];
  return isTree(alias) ? String(alias['aliasname']) : undefined;
}
