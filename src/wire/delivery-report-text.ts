import { maxMessageIdLength } from '../domain/message-id.ts';
import type { DeliveryReportMembers } from './delivery-report-call.ts';
import type { DeliveryReportField, DeliveryReportMapping } from './delivery-report-mapping.ts';
import { asText } from './json.ts';

/** The values of a report under the names that an account gives them. */
export type DeliveryReportText = {
  /** The first text that stands under the field's names; undefined where there is none. */
  readonly text: (field: DeliveryReportField) => string | undefined;
  /** As `text`, of at most `maxCharacters`: for words that are compared. A longer one is absent. */
  readonly shortText: (field: DeliveryReportField) => string | undefined;
  /** The first field whose text is longer than a database index and the service's own interface take. */
  readonly tooLong: DeliveryReportField | undefined;
  /** Every text under the field's names, in the order of the names. */
  readonly texts: (field: DeliveryReportField) => readonly string[];
  /** What stands first under the field's names, of any type. */
  readonly value: (field: DeliveryReportField) => unknown;
  /** The first name that has several texts, which leaves open what the report says. */
  readonly ambiguous: string | undefined;
};

/** Longer than any word of the service. */
const maxCharacters = 500;

/**
 * Bytes in UTF-8 of what reports are looked up by, and of what suppressions are kept under: a MessageID has characters
 * of one byte, a SubAccount 40 of up to four bytes (observed), a job number 8, an e-mail address 64, "@" and 255.
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
  const valuesOf = (name: string): readonly unknown[] => members.get(name.toLowerCase()) ?? [];
  const text = (field: DeliveryReportField): string | undefined => {
    for (const name of fields[field]) {
      for (const value of valuesOf(name)) {
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
    texts: (field) => fields[field].flatMap((name) => textsOf(valuesOf(name))),
    value: (field) => fields[field].flatMap(valuesOf)[0],
    ambiguous: ambiguousName(members, fields),
  };
}

function ambiguousName(
  members: DeliveryReportMembers,
  fields: DeliveryReportMapping['fields'],
): string | undefined {
  for (const [member, values] of members) {
    if (values.length === 1 || new Set(textsOf(values)).size < 2) continue;
    const name = Object.values(fields)
      .flat()
      .find((one) => one.toLowerCase() === member);
    if (name !== undefined) return name;
  }
  return undefined;
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) => toStorableText(value) ?? []);
}

/** A text that Postgres takes: without U+0000, and with U+FFFD for half of a surrogate pair; undefined when it is empty. */
function toStorableText(value: unknown): string | undefined {
  return asText(value)?.replaceAll('\0', '').toWellFormed() || undefined;
}
