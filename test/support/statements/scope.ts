/** Names and what they stand for, found out when it is first asked for. */
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

/** The text of a statement depends on something that the source does not say. */
export class Untold extends Error {}

const mark = Symbol('untold');

/** Stands for what is known only when the program runs. Whatever is done with it is not known either; it has no text. */
export function untold(what: string): unknown {
  const refuse = () => {
    throw new Untold(what);
  };
  return new Proxy(() => undefined, {
    get: (_, key) => {
      if (key === mark) return true;
      if (typeof key === 'symbol') return refuse;
      return key === 'toString' || key === 'valueOf' ? refuse : untold(`${what}.${key}`);
    },
    apply: () => untold(`${what}()`),
  });
}

export function isUntold(value: unknown): boolean {
  return typeof value === 'function' && Reflect.get(value, mark) === true;
}

export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Which of so many ways the program goes. */
export type Choose = (ways: number) => number;

/** All that come out, whichever way the program goes. */
export function explore<Value>(work: (choose: Choose) => Value): readonly Value[] {
  const results: Value[] = [];
  const path: { taken: number; readonly ways: number }[] = [];
  for (;;) {
    let depth = 0;
    results.push(
      work((ways) => {
        const step = path[depth] ?? { taken: 0, ways };
        path[depth++] = step;
        return step.taken;
      }),
    );
    if (results.length > 300) throw new Untold('it has too many forms');
    path.length = depth;
    while (path.at(-1) && (path.at(-1)?.taken ?? 0) + 1 >= (path.at(-1)?.ways ?? 0)) path.pop();
    const last = path.at(-1);
    if (!last) return results;
    last.taken++;
  }
}
