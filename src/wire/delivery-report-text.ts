import { maxMessageIdLength } from '../domain/message-id.ts';
import type { DeliveryReportMembers } from './delivery-report-call.ts';
import {
  type DeliveryReportField,
  type DeliveryReportMapping,
  deliveryReportFields,
} from './delivery-report-mapping.ts';
import { asText } from './json.ts';

/** The values of a delivery report by field, under the names that the account defines. */
export type DeliveryReportText = {
  readonly text: (field: DeliveryReportField) => string | undefined;
  /** As `text`, but undefined over `maxCharacters`; for values that are compared. */
  readonly shortText: (field: DeliveryReportField) => string | undefined;
  /** The first field that is longer than `maxBytes`. */
  readonly tooLong: DeliveryReportField | undefined;
  /** All texts of the field, in the order of its names. */
  readonly texts: (field: DeliveryReportField) => readonly string[];
  /** The first value of the field, of any type. */
  readonly value: (field: DeliveryReportField) => unknown;
  /** The first name with different texts, which leave the report's meaning open. */
  readonly ambiguous: string | undefined;
};

/** Longer than any word of the service. */
const maxCharacters = 500;

/**
 * UTF-8 bytes of indexed values: a SubAccount has 40 characters of up to four bytes (observed), a job number
 * 8, an e-mail address 64, "@" and 255.
 */
export const maxBytes = {
  MessageID: maxMessageIdLength,
  JobNumber: 40,
  Destination: 320,
  SubAccount: 160,
} as const satisfies Partial<Record<DeliveryReportField, number>>;

const boundedFields = ['MessageID', 'JobNumber', 'Destination', 'SubAccount'] as const;

export function deliveryReportText(
  members: DeliveryReportMembers,
  { fields }: DeliveryReportMapping,
): DeliveryReportText {
  const names = lowerCaseNames(fields);
  const valuesOf = (field: DeliveryReportField): readonly unknown[] =>
    (names.get(field) ?? []).flatMap((name) => members.get(name) ?? []);
  const text = (field: DeliveryReportField): string | undefined => {
    for (const name of names.get(field) ?? []) {
      for (const value of members.get(name) ?? []) {
        const found = toStorableText(value);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return {
    text,
    shortText: (field) => {
      const found = text(field);
      return found === undefined || found.length > maxCharacters ? undefined : found;
    },
    tooLong: boundedFields.find((field) => Buffer.byteLength(text(field) ?? '') > maxBytes[field]),
    texts: (field) => textsOf(valuesOf(field)),
    value: (field) => valuesOf(field)[0],
    ambiguous: ambiguousName(members, fields),
  };
}

type FieldNames = DeliveryReportMapping['fields'];

const namesOfMappings = new WeakMap<FieldNames, ReadonlyMap<DeliveryReportField, readonly string[]>>();

/** Made once for a mapping: they take a third of the time in which a report is read. */
function lowerCaseNames(fields: FieldNames): ReadonlyMap<DeliveryReportField, readonly string[]> {
  const known = namesOfMappings.get(fields);
  if (known) return known;
  const names = new Map(
    deliveryReportFields.map((field) => [field, namesOf(fields, field).map((name) => name.toLowerCase())]),
  );
  namesOfMappings.set(fields, names);
  return names;
}

function namesOf(fields: FieldNames, field: DeliveryReportField): readonly string[] {
  return fields[field] ?? [field];
}

function ambiguousName(members: DeliveryReportMembers, fields: FieldNames): string | undefined {
  for (const [member, values] of members) {
    if (values.length === 1 || new Set(textsOf(values)).size < 2) continue;
    const names = deliveryReportFields.flatMap((field) => namesOf(fields, field));
    const name = names.find((one) => one.toLowerCase() === member);
    if (name !== undefined) return name;
  }
  return undefined;
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) => toStorableText(value) ?? []);
}

/** Drops U+0000 and replaces lone surrogates, which Postgres cannot store. Undefined when empty. */
function toStorableText(value: unknown): string | undefined {
  const text = asText(value);
  if (text?.includes('\0') === false && text.isWellFormed()) return text || undefined;
  return text?.replaceAll('\0', '').toWellFormed() || undefined;
}
