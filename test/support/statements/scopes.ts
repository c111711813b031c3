import { declareFunction, evaluate } from './evaluate.ts';
import { bind } from './patterns.ts';
import { type Choose, innerScope, once, type Scope, unknownValue } from './scope.ts';
import { child, children, isNode, type Node, nameOf, type Source, walk } from './sources.ts';

/** Values of parameters without a caller in the source, by `file function parameter`. */
export type GivenValues = Readonly<Record<string, readonly unknown[]>>;

const functions = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** File and outermost function of a node. */
export function functionNameOf(source: Source, node: Node): string {
  const names = [...ancestors(source.parents, node)].flatMap((each) => declaredName(source, each) ?? []);
  return `${source.path.replace('ledger/', '')} ${names.at(-1) ?? ''}`;
}

function declaredName({ parents }: Source, node: Node): string | undefined {
  if (node.type === 'FunctionDeclaration') return nameOf(child(node, 'id'));
  const parent = parents.get(node);
  if (!functions.test(node.type) || parent?.type !== 'VariableDeclarator') return undefined;
  const id = child(parent, 'id');
  return id.type === 'Identifier' ? nameOf(id) : undefined;
}

type Caller = { readonly source: Source; readonly call: Node };

/** Calls of functions of `src`, by `file name`. */
export function indexCallers(sources: ReadonlyMap<string, Source>): ReadonlyMap<string, readonly Caller[]> {
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

type Program = {
  readonly sources: ReadonlyMap<string, Source>;
  readonly callers: ReadonlyMap<string, readonly Caller[]>;
  readonly given: GivenValues;
  readonly choose: Choose;
  readonly onCaller: (where: string) => void;
};

/** Values of names in one execution of the program. */
export class Scopes {
  readonly #program: Program;
  readonly #modules = new Map<string, Scope>();
  readonly #known = new Map<Node, Scope>();

  constructor(program: Program) {
    this.#program = program;
  }

  #moduleScope(source: Source): Scope {
    const found = this.#modules.get(source.path);
    if (found) return found;
    const scope = innerScope(undefined);
    this.#modules.set(source.path, scope);
    for (const [local, { path, name }] of source.imported) {
      const target = this.#program.sources.get(path);
      if (target)
        scope.names.set(local, () => this.#moduleScope(target).names.get(name)?.() ?? unknownValue(name));
    }
    this.#declareAll(source, children(source.program, 'body'), scope);
    return scope;
  }

  #declareAll(source: Source, statements: readonly (Node | null)[], scope: Scope): void {
    for (const statement of statements) {
      const exported = statement?.type === 'ExportNamedDeclaration' ? statement['declaration'] : statement;
      if (!isNode(exported)) continue;
      if (exported.type === 'FunctionDeclaration') declareFunction(exported, scope, this.#program.choose);
      if (exported.type !== 'VariableDeclaration') continue;
      for (const declared of children(exported, 'declarations')) {
        if (!declared) continue;
        const id = child(declared, 'id');
        const changes = () =>
          exported['kind'] !== 'const' || (id.type === 'Identifier' && isChanged(source, id));
        const init = declared['init'];
        const value = () =>
          isNode(init) && !changes()
            ? evaluate(init, scope, this.#program.choose)
            : unknownValue('a variable that changes');
        bind(id, once(value), { scope, choose: this.#program.choose, evaluate });
      }
    }
  }

  at(source: Source, node: Node): Scope {
    const found = this.#known.get(node);
    if (found) return found;
    const parent = source.parents.get(node);
    if (!parent) return this.#moduleScope(source);
    const outer = this.at(source, parent);
    const scope = innerScope(outer);
    this.#known.set(node, scope);
    if (node.type === 'BlockStatement') this.#declareAll(source, children(node, 'body'), scope);
    if (node.type === 'ForOfStatement') this.#bindEach(node, outer, scope);
    if (functions.test(node.type)) this.#bindParameters(source, node, scope);
    return scope;
  }

  #bindEach(loop: Node, outer: Scope, scope: Scope): void {
    const [declared] = children(child(loop, 'left'), 'declarations');
    const one = once(() => {
      const list = evaluate(child(loop, 'right'), outer, this.#program.choose);
      return Array.isArray(list) && list.length > 0
        ? list[this.#program.choose(list.length)]
        : unknownValue('an element');
    });
    if (declared) bind(child(declared, 'id'), one, { scope, choose: this.#program.choose, evaluate });
  }

  #bindParameters(source: Source, node: Node, scope: Scope): void {
    const name = declaredName(source, node);
    const calling = (this.#program.callers.get(`${source.path} ${name}`) ?? []).filter(
      ({ call }) => !isWithin(source, call, node),
    );
    // The same one for all parameters.
    const caller = once(() => {
      const chosen =
        name === undefined || calling.length === 0
          ? undefined
          : calling[this.#program.choose(calling.length)];
      if (chosen) this.#program.onCaller(functionNameOf(chosen.source, chosen.call));
      return chosen;
    });
    for (const [index, parameter] of children(node, 'params').entries()) {
      if (!parameter) continue;
      const samples = this.#program.given[`${source.path.replace('ledger/', '')} ${name} ${index}`];
      const value = once(() => {
        if (samples) return samples[this.#program.choose(samples.length)];
        const from = caller();
        if (!from) return unknownValue(`parameter ${index} of ${name ?? 'a function'}`);
        const argument = children(from.call, 'arguments')[index];
        return argument
          ? evaluate(argument, this.at(from.source, from.call), this.#program.choose)
          : undefined;
      });
      bind(parameter, value, { scope, choose: this.#program.choose, evaluate });
    }
  }
}

function isWithin({ parents }: Source, node: Node, outer: Node): boolean {
  for (let each: Node | undefined = node; each; each = parents.get(each)) if (each === outer) return true;
  return false;
}

/** Whether a name's value changes after its declaration. */
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

export function* ancestors(parents: ReadonlyMap<Node, Node>, node: Node): Generator<Node> {
  for (let each = parents.get(node); each; each = parents.get(each)) yield each;
}
