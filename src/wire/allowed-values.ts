import type { InterfaceName } from '../domain/message.ts';
import { channelsOf, type FieldDefinition, messageFields } from './fields.ts';

/**
 * Values by field name that an account's service accepts beyond the observed ones (docs/reference/interfaces.md,
 * "Ranges and values"). An integer entry may be a range such as `6-9`.
 */
export type AllowedValues = Readonly<Record<string, readonly string[]>>;

/** Whether the field's values were only observed, so that an account may extend them, or it may allow none. */
export function isExtendable({ values, range, source, expected }: FieldDefinition): boolean {
  return expected === true || (source === 'observed' && (values !== undefined || range !== undefined));
}

export function extendableFields(interfaceName: InterfaceName): readonly FieldDefinition[] {
  const fields = channelsOf(interfaceName).flatMap((channel) => messageFields(interfaceName, channel));
  return fields.filter(
    (field, index) => isExtendable(field) && fields.findIndex(({ name }) => name === field.name) === index,
  );
}

const rangePattern = /^(\d{1,9})\s*-\s*(\d{1,9})$/;

/** Checks an entry. @returns undefined when it is valid */
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
  // Case-sensitive, because the service may distinguish case.
  if (type !== 'integer') return entries.includes(value);
  return entries.some((entry) => {
    const [, from = entry, to = entry] = rangePattern.exec(entry) ?? [];
    return Number(from) <= Number(value) && Number(value) <= Number(to);
  });
}
