import { type Choose, isUnknown, once, type Scope, unknownValue } from './scope.ts';
import { child, children, isNode, type Node, nameOf } from './sources.ts';

type Evaluate = (node: Node, scope: Scope, choose: Choose) => unknown;

/** Binds the names of a pattern, such as `{ run, slice: number = 1 }`, to their values. */
export function bind(
  pattern: Node,
  value: () => unknown,
  {
    scope,
    choose,
    evaluate,
  }: { readonly scope: Scope; readonly choose: Choose; readonly evaluate: Evaluate },
): void {
  const part = (read: (whole: unknown) => unknown) =>
    once(() => {
      const whole = value();
      return isUnknown(whole)
        ? unknownValue('a part')
        : whole === undefined || whole === null
          ? undefined
          : read(whole);
    });
  switch (pattern.type) {
    case 'Identifier':
      scope.names.set(
        nameOf(pattern),
        once(() => {
          const known = value();
          return isUnknown(known) ? unknownValue(nameOf(pattern)) : known;
        }),
      );
      return;
    case 'AssignmentPattern': {
      const whole = once(() => {
        const given = value();
        if (isUnknown(given)) return given;
        return given === undefined ? evaluate(child(pattern, 'right'), scope, choose) : given;
      });
      bind(child(pattern, 'left'), whole, { scope, choose, evaluate });
      return;
    }
    case 'RestElement':
      bind(child(pattern, 'argument'), value, { scope, choose, evaluate });
      return;
    case 'ArrayPattern':
      for (const [index, each] of children(pattern, 'elements').entries())
        if (each)
          bind(
            each,
            part((whole) => Reflect.get(Object(whole), index)),
            { scope, choose, evaluate },
          );
      return;
    case 'ObjectPattern':
      bindProperties(pattern, part, { scope, choose, evaluate });
  }
}

function bindProperties(
  pattern: Node,
  part: (read: (whole: unknown) => unknown) => () => unknown,
  {
    scope,
    choose,
    evaluate,
  }: { readonly scope: Scope; readonly choose: Choose; readonly evaluate: Evaluate },
): void {
  for (const property of children(pattern, 'properties')) {
    if (property?.type === 'RestElement')
      bind(
        child(property, 'argument'),
        part((whole) => whole),
        { scope, choose, evaluate },
      );
    else if (property && isNode(property['key'])) {
      const key = child(property, 'key');
      const name = key.type === 'Identifier' ? nameOf(key) : String(key['value']);
      bind(
        child(property, 'value'),
        part((whole) => Reflect.get(Object(whole), name)),
        { scope, choose, evaluate },
      );
    }
  }
}
