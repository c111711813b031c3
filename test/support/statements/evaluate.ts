import { bind } from './patterns.ts';
import { type Choose, find, innerScope, isUnknown, once, type Scope, unknownValue } from './scope.ts';
import { child, children, isNode, type Node, nameOf } from './sources.ts';

/** Evaluates expressions from the source alone, as far as possible. */

const globals: Readonly<Record<string, unknown>> = { Object, Math, String, Number, Array, Set, Map, JSON };
const wrappers =
  /^(TS(As|Satisfies|NonNull|Instantiation)Expression|ParenthesizedExpression|ChainExpression)$/;

type Evaluator = (node: Node, scope: Scope, choose: Choose) => unknown;

export const evaluate: Evaluator = (node, scope, choose) => {
  if (wrappers.test(node.type)) return evaluate(child(node, 'expression'), scope, choose);
  const known = evaluators[node.type];
  return known ? known(node, scope, choose) : unknownValue(node.type);
};

const evaluators: Readonly<Record<string, Evaluator>> = {
  Literal: (node) =>
    'regex' in node && node['regex'] ? unknownValue('a regular expression') : node['value'],
  Identifier: (node, scope) => {
    const name = nameOf(node);
    if (name === 'undefined') return undefined;
    const found = find(scope, name);
    if (found) return found();
    return Object.hasOwn(globals, name) ? globals[name] : unknownValue(name);
  },
  TemplateLiteral: (node, scope, choose) => {
    const values = children(node, 'expressions').map((each) => each && evaluate(each, scope, choose));
    return children(node, 'quasis')
      .map((each, index) => `${templateText(each)}${index < values.length ? String(values[index]) : ''}`)
      .join('');
  },
  ConditionalExpression: (node, scope, choose) =>
    evaluate(
      child(node, isTrue(evaluate(child(node, 'test'), scope, choose), choose) ? 'consequent' : 'alternate'),
      scope,
      choose,
    ),
  LogicalExpression: (node, scope, choose) => {
    const left = evaluate(child(node, 'left'), scope, choose);
    const evaluatesRight = {
      '&&': () => isTrue(left, choose),
      '||': () => !isTrue(left, choose),
      '??': () => (isUnknown(left) ? choose(2) === 1 : left === undefined || left === null),
    }[String(node['operator'])];
    return evaluatesRight?.() ? evaluate(child(node, 'right'), scope, choose) : left;
  },
  UnaryExpression: (node, scope, choose) => {
    const value = evaluate(child(node, 'argument'), scope, choose);
    if (isUnknown(value)) return value;
    return node['operator'] === '!' ? !value : unknownValue(String(node['operator']));
  },
  BinaryExpression: (node, scope, choose) => {
    const [left, right] = [
      evaluate(child(node, 'left'), scope, choose),
      evaluate(child(node, 'right'), scope, choose),
    ];
    if (isUnknown(left) || isUnknown(right)) return unknownValue('a comparison');
    const numbers = typeof left === 'number' && typeof right === 'number';
    switch (node['operator']) {
      case '===':
        return left === right;
      case '!==':
        return left !== right;
      case '+':
        return numbers ? left + right : `${left}${right}`;
      case '-':
        return numbers ? left - right : unknownValue('a difference');
      case '*':
        return numbers ? left * right : unknownValue('a product');
      default:
        return unknownValue(String(node['operator']));
    }
  },
  ArrayExpression: (node, scope, choose) => elementsOf(node, 'elements', scope, choose),
  ObjectExpression: (node, scope, choose) => {
    const made: Record<string, unknown> = {};
    for (const property of children(node, 'properties')) {
      if (!property) continue;
      if (property.type === 'SpreadElement') {
        const spread = evaluate(child(property, 'argument'), scope, choose);
        if (isUnknown(spread)) return unknownValue('a spread object');
        Object.assign(made, spread);
      } else {
        // Lazy: values beside a text may be unknown.
        const get = once(() => evaluate(child(property, 'value'), scope, choose));
        Object.defineProperty(made, keyOf(property, scope, choose), {
          get,
          enumerable: true,
          configurable: true,
        });
      }
    }
    return made;
  },
  MemberExpression: (node, scope, choose) => {
    const object = evaluate(child(node, 'object'), scope, choose);
    if (isUnknown(object))
      return node['computed']
        ? unknownValue('an element')
        : Reflect.get(Object(object), nameOf(child(node, 'property')));
    if (object === undefined || object === null) return undefined;
    const key = node['computed']
      ? evaluate(child(node, 'property'), scope, choose)
      : nameOf(child(node, 'property'));
    if (isUnknown(key)) {
      const values = Object.values(object);
      return values.length > 0 ? values[choose(values.length)] : unknownValue('an element');
    }
    return Reflect.get(Object(object), String(key));
  },
  CallExpression: (node, scope, choose) => {
    const callee = child(node, 'callee');
    const isMethod = callee.type === 'MemberExpression';
    const object = isMethod ? evaluate(child(callee, 'object'), scope, choose) : undefined;
    if (isMethod && isUnknown(object)) return unknownValue('a call');
    const called = isMethod
      ? Reflect.get(Object(object), nameOf(child(callee, 'property')))
      : evaluate(callee, scope, choose);
    if (typeof called !== 'function' || isUnknown(called)) return unknownValue('a call');
    return Reflect.apply(called, object, elementsOf(node, 'arguments', scope, choose));
  },
  NewExpression: (node, scope, choose) => {
    const made = nameOf(child(node, 'callee'));
    const [first] = elementsOf(node, 'arguments', scope, choose);
    return made === 'Set' && Array.isArray(first) ? new Set(first) : unknownValue(`new ${made}`);
  },
  ArrowFunctionExpression: (node, scope, choose) => closure(node, scope, choose),
  FunctionExpression: (node, scope, choose) => closure(node, scope, choose),
};

function templateText(element: Node | null): string {
  const value = element?.['value'];
  return String(Reflect.get(Object(value), 'cooked'));
}

function isTrue(value: unknown, choose: Choose): boolean {
  return isUnknown(value) ? choose(2) === 0 : Boolean(value);
}

function elementsOf(node: Node, key: string, scope: Scope, choose: Choose): unknown[] {
  return children(node, key).flatMap((each) => {
    if (each?.type !== 'SpreadElement') return [each && evaluate(each, scope, choose)];
    const spread = evaluate(child(each, 'argument'), scope, choose);
    return [...(isUnknown(spread) ? [spread] : Array.from(Object(spread)))];
  });
}

export function keyOf(property: Node, scope: Scope, choose: Choose): string {
  const key = child(property, 'key');
  if (property['computed']) return String(evaluate(key, scope, choose));
  return key.type === 'Identifier' ? nameOf(key) : String(key['value']);
}

/** A function of the program; an asynchronous one is unknown. */
export function closure(node: Node, scope: Scope, choose: Choose): unknown {
  if (node['async'] === true || node['generator'] === true) return () => unknownValue('a promise');
  return (...values: unknown[]) => {
    const inner = innerScope(scope);
    for (const [index, parameter] of children(node, 'params').entries()) {
      const value = parameter?.type === 'RestElement' ? values.slice(index) : values[index];
      if (parameter) bind(parameter, () => value, { scope: inner, choose, evaluate });
    }
    const body = child(node, 'body');
    if (body.type !== 'BlockStatement') return evaluate(body, inner, choose);
    return execute(children(body, 'body'), inner, choose)?.value;
  };
}

type Returned = { readonly value: unknown } | undefined;

function execute(statements: readonly (Node | null)[], scope: Scope, choose: Choose): Returned {
  for (const statement of statements)
    if (statement?.type === 'FunctionDeclaration') declareFunction(statement, scope, choose);
  for (const statement of statements) {
    const returned = statement && executeOne(statement, scope, choose);
    if (returned) return returned;
  }
  return undefined;
}

export function declareFunction(statement: Node, scope: Scope, choose: Choose): void {
  scope.names.set(nameOf(child(statement, 'id')), () => closure(statement, scope, choose));
}

function executeOne(statement: Node, scope: Scope, choose: Choose): Returned {
  switch (statement.type) {
    case 'ReturnStatement':
      return {
        value: isNode(statement['argument'])
          ? evaluate(child(statement, 'argument'), scope, choose)
          : undefined,
      };
    case 'VariableDeclaration':
      for (const declared of children(statement, 'declarations')) {
        if (!declared) continue;
        const value = isNode(declared['init'])
          ? evaluate(child(declared, 'init'), scope, choose)
          : unknownValue('a variable');
        bind(child(declared, 'id'), () => value, { scope, choose, evaluate });
      }
      return undefined;
    case 'ExpressionStatement':
      evaluate(child(statement, 'expression'), scope, choose);
      return undefined;
    case 'BlockStatement':
      return execute(children(statement, 'body'), innerScope(scope), choose);
    case 'IfStatement': {
      const branch = isTrue(evaluate(child(statement, 'test'), scope, choose), choose)
        ? 'consequent'
        : 'alternate';
      return isNode(statement[branch]) ? executeOne(child(statement, branch), scope, choose) : undefined;
    }
    case 'ForOfStatement':
      return executeEach(statement, scope, choose);
    case 'FunctionDeclaration':
      return undefined;
    case 'ThrowStatement':
      return { value: unknownValue('a failure') };
    default:
      return { value: unknownValue(`a ${statement.type}`) };
  }
}

function executeEach(statement: Node, scope: Scope, choose: Choose): Returned {
  const list = evaluate(child(statement, 'right'), scope, choose);
  const [declared] = children(child(statement, 'left'), 'declarations');
  for (const value of Array.from(Object(list))) {
    const inner = innerScope(scope);
    if (declared) bind(child(declared, 'id'), () => value, { scope: inner, choose, evaluate });
    const returned = executeOne(child(statement, 'body'), inner, choose);
    if (returned) return returned;
  }
  return undefined;
}
