import type { Definition } from './definition.ts';

type Condition = NonNullable<Definition['contacts']['where']>[number];

export type RowFilter = (valueIn: (column: string) => string) => boolean;

/** All conditions must hold. Undefined if there are none, so that rows cost nothing. */
export function createRowFilter(conditions: readonly Condition[] = []): RowFilter | undefined {
  if (conditions.length === 0) return undefined;
  const tests = conditions.map(testOf);
  return (valueIn) => tests.every(({ column, holds }) => holds(valueIn(column).trim()));
}

type Test = { readonly column: string; readonly holds: (value: string) => boolean };

/** Trims values, because a spreadsheet does not show spaces around them. */
function testOf({ column, equals, in: oneOf, present }: Condition): Test {
  if (present !== undefined) return { column, holds: (value) => (value !== '') === present };
  const wanted = new Set(
    [...(equals === undefined ? [] : [equals]), ...(oneOf ?? [])].map((text) => text.trim()),
  );
  return { column, holds: (value) => wanted.has(value) };
}
