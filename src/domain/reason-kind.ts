/** Whether a value of the ledger is of this type. */
export type Guard<Value> = (value: unknown) => value is Value;

/** Guards of the values of a reason, as the ledger stores them. */
type Fields<Values> = { readonly [Field in keyof Values]: Guard<Values[Field]> };

/** One kind of reason. `words` formats its values for people. */
export type ReasonKind<Values> = {
  readonly fields: Fields<Values>;
  readonly holds: Guard<Values>;
  readonly words: (values: unknown) => string;
};

type Kinds = Readonly<Record<string, ReasonKind<unknown>>>;

/** The values of one kind. */
export type ValuesOf<Of> = Of extends ReasonKind<infer Values> ? Readonly<Values> : never;

/** The reasons of these kinds. */
export type ReasonOf<Of extends Kinds> = {
  readonly [Kind in keyof Of]: { readonly kind: Kind } & ValuesOf<Of[Kind]>;
}[keyof Of];

export function reasonKind<Values extends object>(
  fields: Fields<Values>,
  words: (values: Values) => string,
): ReasonKind<Values> {
  const guards: readonly (readonly [string, Guard<unknown>])[] = Object.entries(fields);
  const holds = (value: unknown): value is Values =>
    isObject(value) && guards.every(([name, isValue]) => isValue(value[name]));
  return {
    fields,
    holds,
    words(values) {
      if (holds(values)) return words(values);
      throw new Error(`These are not the values of a reason of this kind: ${JSON.stringify(values)}`);
    },
  };
}

/** A kind without values. */
export function bareKind(words: string): ReasonKind<object> {
  return reasonKind({}, () => words);
}

export function isReasonOf<Of extends Kinds>(kinds: Of): Guard<ReasonOf<Of>> {
  const kindsByName = new Map(Object.entries(kinds));
  return (value): value is ReasonOf<Of> =>
    isObject(value) && text(value['kind']) && kindsByName.get(value['kind'])?.holds(value) === true;
}

export const text: Guard<string> = (value) => typeof value === 'string';
export const number: Guard<number> = (value) => typeof value === 'number';
export const flag: Guard<boolean> = (value) => typeof value === 'boolean';
export const texts = listOf(text);
export const textOrNull = orNull(text);

export function oneOf<Word extends string>(words: readonly Word[]): Guard<Word> {
  return (value): value is Word => words.some((word) => word === value);
}

export function listOf<Value>(isValue: Guard<Value>): Guard<readonly Value[]> {
  return (value): value is readonly Value[] => Array.isArray(value) && value.every(isValue);
}

export function orNull<Value>(isValue: Guard<Value>): Guard<Value | null> {
  return (value): value is Value | null => value === null || isValue(value);
}

export function either<One, Other>(isOne: Guard<One>, isOther: Guard<Other>): Guard<One | Other> {
  return (value): value is One | Other => isOne(value) || isOther(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
