import type { InterfaceName } from '../domain/message.ts';
import { channelsOf, type FieldDefinition, messageFields } from './fields.ts';

/**
 * Values that an account's service takes beyond those that were observed (observed.md, "Ranges and values"), by the name
 * of the field. An entry for a whole number may be a range, such as `6-9`.
 */
export type AllowedValues = Readonly<Record<string, readonly string[]>>;

/** Whether what is known of a field's values was only observed, so that another service may take others. */
export function isExtendable({ values, range, source }: FieldDefinition): boolean {
  return source === 'observed' && (values !== undefined || range !== undefined);
}

/** The fields of an interface whose values can be allowed, over all its channels. */
export function extendableFields(interfaceName: InterfaceName): readonly FieldDefinition[] {
  const fields = channelsOf(interfaceName).flatMap((channel) => messageFields(interfaceName, channel));
  return fields.filter(
    (field, index) => isExtendable(field) && fields.findIndex(({ name }) => name === field.name) === index,
  );
}

const rangePattern = /^(\d{1,9})\s*-\s*(\d{1,9})$/;

/** What is wrong with an entry for a field; undefined when nothing is. */
export function allowedValueError({ type }: FieldDefinition, entry: string): string | undefined {
  if (type !== 'integer' || /^\d{1,9}$/.test(entry)) return undefined;
  const [, from, to] = rangePattern.exec(entry) ?? [];
  if (from !== undefined && Number(from) <= Number(to)) return undefined;
  return `expected a whole number such as 9, or a range such as 6-9, got "${entry}"`;
}

export function isAllowed(
  allowedValues: AllowedValues | undefined,
  { name, type }: FieldDefinition,
  value: string,
): boolean {
  const entries =
    allowedValues !== undefined && Object.hasOwn(allowedValues, name) ? (allowedValues[name] ?? []) : [];
  // As it is written: it leaves so, and the service may mind its capitals.
  if (type !== 'integer') return entries.includes(value);
  return entries.some((entry) => {
    const [, from = entry, to = entry] = rangePattern.exec(entry) ?? [];
    return Number(from) <= Number(value) && Number(value) <= Number(to);
  });
}
