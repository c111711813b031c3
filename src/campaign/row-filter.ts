import type { Definition } from './definition.ts';

/** `contacts.where`: which rows of the contact file a campaign is for. */

type Condition = NonNullable<Definition['contacts']['where']>[number];

/** Whether a row, given by its values, is one of those. */
export type RowFilter = (valueIn: (column: string) => string) => boolean;

/** All conditions must hold. Undefined where there are none, so that a row costs nothing then. */
export function createRowFilter(conditions: readonly Condition[] = []): RowFilter | undefined {
  if (conditions.length === 0) return undefined;
  const tests = conditions.map(testOf);
  return (valueIn) => tests.every(({ column, holds }) => holds(valueIn(column).trim()));
}

type Test = { readonly column: string; readonly holds: (value: string) => boolean };

/** Spaces around a value cannot be seen in a spreadsheet, so they make no difference. */
function testOf({ column, equals, in: oneOf, present }: Condition): Test {
  if (present !== undefined) return { column, holds: (value) => (value !== '') === present };
  const wanted = new Set(
    [...(equals === undefined ? [] : [equals]), ...(oneOf ?? [])].map((text) => text.trim()),
  );
  return { column, holds: (value) => wanted.has(value) };
}
