/** Names and their values, evaluated lazily. */
export type Scope = {
  readonly parent: Scope | undefined;
  readonly names: Map<string, () => unknown>;
};

export const innerScope = (parent: Scope | undefined): Scope => ({ parent, names: new Map() });

export function find(scope: Scope, name: string): (() => unknown) | undefined {
  for (let each: Scope | undefined = scope; each; each = each.parent) {
    const found = each.names.get(name);
    if (found) return found;
  }
  return undefined;
}

export class UnknownText extends Error {}

const mark = Symbol('unmarked');

/** A value known only at run time; it has no text. */
export function unknownValue(what: string): unknown {
  const refuse = () => {
    throw new UnknownText(what);
  };
  return new Proxy(() => undefined, {
    get: (_, key) => {
      if (key === mark) return true;
      if (typeof key === 'symbol') return refuse;
      return key === 'toString' || key === 'valueOf' ? refuse : unknownValue(`${what}.${key}`);
    },
    apply: () => unknownValue(`${what}()`),
  });
}

export function isUnknown(value: unknown): boolean {
  return typeof value === 'function' && Reflect.get(value, mark) === true;
}

export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export type Choose = (branches: number) => number;

export function explore<Value>(work: (choose: Choose) => Value): readonly Value[] {
  const results: Value[] = [];
  const path: { branch: number; readonly branches: number }[] = [];
  for (;;) {
    let depth = 0;
    results.push(
      work((branches) => {
        const step = path[depth] ?? { branch: 0, branches };
        path[depth++] = step;
        return step.branch;
      }),
    );
    if (results.length > 300) throw new UnknownText('it has too many forms');
    path.length = depth;
    while (path.at(-1) && (path.at(-1)?.branch ?? 0) + 1 >= (path.at(-1)?.branches ?? 0)) path.pop();
    const last = path.at(-1);
    if (!last) return results;
    last.branch++;
  }
}
