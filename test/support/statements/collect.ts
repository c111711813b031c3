import { declareFunction, evaluate } from './evaluate.ts';
import { bind } from './patterns.ts';
import { type Choose, explore, innerScope, isUntold, once, type Scope, Untold, untold } from './scope.ts';
import {
  child,
  children,
  isNode,
  lineOf,
  type Node,
  nameOf,
  readSources,
  type Source,
  walk,
} from './sources.ts';

/** A call that sends a statement, and every text that it may have. */
export type SentStatement = {
  /** The file and its function, such as `runs/stop.ts pauseRun`. */
  readonly where: string;
  readonly line: number;
  readonly texts: readonly string[];
  /** Why the source alone does not say what is sent. */
  readonly problem?: string;
};

/** What parameters are that no caller in the source says: by `file function parameter`, some values. */
export type Given = Readonly<Record<string, readonly unknown[]>>;

const functions = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/**
 * Every statement that `src` sends through pg or in SQL through knex. It is found where it is sent, and worked out from the
 * source. A call whose text cannot be worked out is given with its problem, so none is left out in silence, however seldom
 * it is sent.
 */
export function collectStatements(given: Given): readonly SentStatement[] {
  const sources = readSources();
  const callers = indexCallers(sources);
  return [...sources.values()].flatMap((source) =>
    sitesIn(source).map((site): SentStatement => {
      const [sent] = children(site, 'arguments');
      const where = `${source.path.replace('ledger/', '')} ${functionNameOf(source, site)}`;
      const line = lineOf(source, site);
      try {
        const values = explore((choose) => {
          const scopes = openScopes(sources, callers, given, choose);
          return sent ? textOf(evaluate(textNode(sent), scopes.at(source, site), choose)) : '';
        });
        return { where, line, texts: [...new Set(values)] };
      } catch (error) {
        if (!(error instanceof Untold)) throw new Error(`${where}: ${String(error)}`, { cause: error });
        return { where, line, texts: [], problem: error.message };
      }
    }),
  );
}

/** Of what pg is given as one object, the text alone: values are many, and each may be another one. */
function textNode(sent: Node): Node {
  if (sent.type !== 'ObjectExpression') return sent;
  const text = children(sent, 'properties').find(
    (property) => property?.type === 'Property' && child(property, 'key')['name'] === 'text',
  );
  return text ? child(text, 'value') : sent;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = isUntold(value) ? value : Reflect.get(Object(value), 'text');
  return String(text);
}

/** Calls of `query`, `raw` and `copyFrom` with something to send. */
function sitesIn({ program }: Source): readonly Node[] {
  const sites: Node[] = [];
  walk(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const callee = child(node, 'callee');
    const called =
      callee.type === 'MemberExpression'
        ? nameOf(child(callee, 'property'))
        : callee.type === 'Identifier'
          ? nameOf(callee)
          : '';
    const [sent] = children(node, 'arguments');
    if (
      !sent ||
      !/^(query|raw|copyFrom)$/.test(called) ||
      (called !== 'copyFrom' && callee.type === 'Identifier')
    )
      return;
    // What is copied is a site of its own.
    const isCopy = sent.type === 'CallExpression' && child(sent, 'callee')['name'] === 'copyFrom';
    if (!isCopy) sites.push(node);
  });
  return sites;
}

function functionNameOf(source: Source, site: Node): string {
  let name = '';
  for (let each = source.parents.get(site); each; each = source.parents.get(each))
    name = declaredName(source, each) ?? name;
  return name;
}

/** The name of a function, or of the variable that it is the value of. */
function declaredName({ parents }: Source, node: Node): string | undefined {
  if (node.type === 'FunctionDeclaration') return nameOf(child(node, 'id'));
  const parent = parents.get(node);
  if (!functions.test(node.type) || parent?.type !== 'VariableDeclarator') return undefined;
  const id = child(parent, 'id');
  return id.type === 'Identifier' ? nameOf(id) : undefined;
}

type Caller = { readonly source: Source; readonly call: Node };

/** Calls of functions of `src`, by `file name`. */
function indexCallers(sources: ReadonlyMap<string, Source>): ReadonlyMap<string, readonly Caller[]> {
  const callers = new Map<string, Caller[]>();
  for (const source of sources.values())
    walk(source.program, (node) => {
      if (node.type !== 'CallExpression' || child(node, 'callee').type !== 'Identifier') return;
      const called = nameOf(child(node, 'callee'));
      const { path, name } = source.imported.get(called) ?? { path: source.path, name: called };
      const key = `${path} ${name}`;
      callers.set(key, [...(callers.get(key) ?? []), { source, call: node }]);
    });
  return callers;
}

type Scopes = { readonly at: (source: Source, node: Node) => Scope };

/** What names mean at places of the program, for one way that it may go. */
function openScopes(
  sources: ReadonlyMap<string, Source>,
  callers: ReadonlyMap<string, readonly Caller[]>,
  given: Given,
  choose: Choose,
): Scopes {
  const modules = new Map<string, Scope>();
  const known = new Map<Node, Scope>();

  function moduleScope(source: Source): Scope {
    const found = modules.get(source.path);
    if (found) return found;
    const scope = innerScope(undefined);
    modules.set(source.path, scope);
    for (const [local, { path, name }] of source.imported) {
      const target = sources.get(path);
      if (target) scope.names.set(local, () => moduleScope(target).names.get(name)?.() ?? untold(name));
    }
    declareAll(source, children(source.program, 'body'), scope);
    return scope;
  }

  function declareAll(source: Source, statements: readonly (Node | null)[], scope: Scope): void {
    for (const statement of statements) {
      const exported = statement?.type === 'ExportNamedDeclaration' ? statement['declaration'] : statement;
      if (!isNode(exported)) continue;
      if (exported.type === 'FunctionDeclaration') declareFunction(exported, scope, choose);
      if (exported.type !== 'VariableDeclaration') continue;
      for (const declared of children(exported, 'declarations')) {
        if (!declared) continue;
        const id = child(declared, 'id');
        const changes = () =>
          exported['kind'] !== 'const' || (id.type === 'Identifier' && isChanged(source, id));
        const init = declared['init'];
        const value = () =>
          isNode(init) && !changes() ? evaluate(init, scope, choose) : untold('a variable that changes');
        bind(id, once(value), scope, choose, evaluate);
      }
    }
  }

  /** The scope of what is within a node. */
  function within(source: Source, node: Node): Scope {
    const found = known.get(node);
    if (found) return found;
    const parent = source.parents.get(node);
    if (!parent) return moduleScope(source);
    const outer = within(source, parent);
    const scope = innerScope(outer);
    known.set(node, scope);
    if (node.type === 'BlockStatement') declareAll(source, children(node, 'body'), scope);
    if (node.type === 'ForOfStatement') bindEach(node, outer, scope);
    if (functions.test(node.type)) bindParameters(source, node, scope);
    return scope;
  }

  function bindEach(loop: Node, outer: Scope, scope: Scope): void {
    const [declared] = children(child(loop, 'left'), 'declarations');
    const one = once(() => {
      const list = evaluate(child(loop, 'right'), outer, choose);
      return Array.isArray(list) && list.length > 0 ? list[choose(list.length)] : untold('an element');
    });
    if (declared) bind(child(declared, 'id'), one, scope, choose, evaluate);
  }

  function bindParameters(source: Source, node: Node, scope: Scope): void {
    const name = declaredName(source, node);
    const calling = (callers.get(`${source.path} ${name}`) ?? []).filter(
      ({ call }) => !isWithin(source, call, node),
    );
    // The same one for all parameters.
    const caller = once(() =>
      name === undefined || calling.length === 0 ? undefined : calling[choose(calling.length)],
    );
    for (const [index, parameter] of children(node, 'params').entries()) {
      if (!parameter) continue;
      const samples = given[`${source.path.replace('ledger/', '')} ${name} ${index}`];
      const value = once(() => {
        if (samples) return samples[choose(samples.length)];
        const from = caller();
        if (!from) return untold(`parameter ${index} of ${name ?? 'a function'}`);
        const argument = children(from.call, 'arguments')[index];
        return argument ? evaluate(argument, within(from.source, from.call), choose) : undefined;
      });
      bind(parameter, value, scope, choose, evaluate);
    }
  }

  return { at: within };
}

function isWithin({ parents }: Source, node: Node, outer: Node): boolean {
  for (let each: Node | undefined = node; each; each = parents.get(each)) if (each === outer) return true;
  return false;
}

/** Whether something is added to what a name stands for after it was declared. */
function isChanged({ program, parents }: Source, id: Node): boolean {
  let changed = false;
  const block =
    [...ancestors(parents, id)].find(({ type }) => type === 'BlockStatement' || type === 'Program') ??
    program;
  walk(block, (node) => {
    if (node.type !== 'CallExpression' || child(node, 'callee').type !== 'MemberExpression') return;
    const callee = child(node, 'callee');
    const object = child(callee, 'object');
    const method = callee['computed'] ? '' : nameOf(child(callee, 'property'));
    if (
      object.type === 'Identifier' &&
      nameOf(object) === nameOf(id) &&
      /^(push|unshift|splice|set|add)$/.test(method)
    )
      changed = true;
  });
  return changed;
}

function* ancestors(parents: ReadonlyMap<Node, Node>, node: Node): Generator<Node> {
  for (let each = parents.get(node); each; each = parents.get(each)) yield each;
}
