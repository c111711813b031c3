import { htmlEscape } from 'escape-goat';
import {
  destinationFields,
  InputError,
  type InterfaceName,
  type MessageFields,
  type Problem,
} from '../domain.ts';
import { nearest } from '../platform/yaml.ts';
import {
  type FieldDefinition,
  isServicePlaceholder,
  mergedByService,
  messageFields,
} from '../wire/fields.ts';
import { type Campaign, messageOf, wrongValue } from './campaign.ts';
import { type MergePlan, planMerge, type Slot } from './merge.ts';
import { parseTemplate, type Resolution, render, type Template } from './placeholders.ts';

/** A campaign compiled against its contact file's header: all that is needed to personalise one contact. */
export type Composition = {
  readonly merge: MergePlan;
  readonly fields: readonly { readonly definition: FieldDefinition; readonly template: Template }[];
  readonly slots: readonly Slot[];
  readonly recipientColumn: string;
  /** Columns whose values go into the message or the destination. */
  readonly usedColumns: readonly string[];
  /** The service reads `[[…]]` in this channel, so a contact's value must not smuggle one in. */
  readonly serviceReadsPlaceholders: boolean;
};

/** What one contact contributes: its request-level values and its destination's fields. */
export type Personalised =
  | { readonly kind: 'personalised'; readonly envelope: MessageFields; readonly destination: MessageFields }
  | { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

/** Text bodies; every other field is one line (a line break in a subject or a name would forge a mail header). */
const multiLineFields: readonly string[] = ['Message', 'MessagePlain', 'MessageHTML'];

/**
 * @param header the contact file's column names
 * @throws InputError for a mapped column the file does not have and for an unknown placeholder, with its place.
 */
export function compose(
  campaign: Campaign,
  interfaceName: InterfaceName,
  header: readonly string[],
): Composition {
  const { value: definition, locate } = campaign;
  const mapped = mappedColumns(definition.contacts.columns);
  const problems: Problem[] = [];

  for (const [field, column] of Object.entries(mapped)) {
    if (header.includes(column)) continue;
    problems.push({
      where: locate(['contacts', 'columns', field]),
      what: `${definition.contacts.file} has no column "${column}".${nearest(column, header)} Its columns: ${header.join(', ')}.`,
    });
  }

  const resolve = (name: string): Resolution => {
    const column = mapped[name] ?? (header.includes(name) ? name : undefined);
    if (column !== undefined) return { kind: 'column', column };
    return isServicePlaceholder(definition.channel, name) ? { kind: 'service' } : { kind: 'unknown' };
  };

  const fields: { definition: FieldDefinition; template: Template }[] = [];
  const message = messageOf(definition);
  for (const field of messageFields(interfaceName, definition.channel)) {
    const source = message[field.name];
    if (source === undefined) continue;
    const { template, unknown } = parseTemplate(source, resolve);
    fields.push({ definition: field, template });
    for (const name of unknown) {
      problems.push({
        where: locate(['message', field.name]),
        what: `Unknown placeholder [[${name}]] in "message.${field.name}".${nearest(name, [...header, ...Object.keys(mapped)])}`,
      });
    }
  }
  if (problems.length > 0) throw new InputError(problems);

  const merged = mergedByService(interfaceName, definition.channel);
  const mergedField = fields.find(({ definition: { name } }) => name === merged?.field);
  const merge = planMerge(mergedField?.template, merged?.destinationFields ?? [], mapped);
  if (mergedField && merge.kind === 'service') mergedField.template = merge.template;

  const slots = destinationSlots(mapped, merge);
  const { Recipient: recipientColumn = '' } = mapped;
  return {
    merge,
    fields,
    slots,
    recipientColumn,
    usedColumns: [
      ...new Set([
        ...slots.map(({ column }) => column),
        ...fields.flatMap((field) => columnsOf(field.template)),
      ]),
    ],
    serviceReadsPlaceholders: merged !== undefined,
  };
}

/** Renders one contact's envelope and destination, or says which of its values cannot be sent. */
export function personalise(composition: Composition, valueIn: (column: string) => string): Personalised {
  for (const column of composition.usedColumns) {
    const detail = unsafeValue(valueIn(column), composition.serviceReadsPlaceholders);
    if (detail) return { kind: 'invalid', column, detail };
  }

  const envelope: Record<string, string> = {};
  for (const { definition, template } of composition.fields) {
    const escapeValue = definition.name === 'MessageHTML' ? (value: string) => htmlEscape(value) : undefined;
    const value = render(template, valueIn, escapeValue);
    const detail = unsendable(definition, value);
    if (detail) return { kind: 'invalid', column: definition.name, detail };
    if (value !== '') envelope[definition.name] = value;
  }

  const destination: Record<string, string> = {};
  for (const { field, column, fallback } of composition.slots) {
    const value = valueIn(column) || fallback;
    if (value !== '') destination[field] = value;
  }
  return { kind: 'personalised', envelope, destination };
}

function mappedColumns(columns: Readonly<Record<string, unknown>>): MessageFields {
  const mapped: Record<string, string> = {};
  for (const [field, column] of Object.entries(columns)) {
    if (typeof column === 'string') mapped[field] = column;
  }
  return mapped;
}

/** The campaign's own mapping, overlaid with the fields that carry values to be merged. */
function destinationSlots(mapped: MessageFields, merge: MergePlan): Slot[] {
  const merged = merge.kind === 'service' ? merge.slots : [];
  return destinationFields.flatMap((field): Slot[] => {
    if (field === 'Recipient') return [];
    const slot = merged.find((candidate) => candidate.field === field);
    if (slot) return [slot];
    const column = mapped[field];
    return column === undefined ? [] : [{ field, column, fallback: '' }];
  });
}

function columnsOf(template: Template): string[] {
  return template.flatMap((segment) => (segment.kind === 'column' ? [segment.column] : []));
}

function unsafeValue(value: string, serviceReadsPlaceholders: boolean): string | undefined {
  if (value.includes('\0')) return 'contains a NUL character';
  if (serviceReadsPlaceholders && value.includes('[[')) {
    return 'contains "[[", which the service would read as a placeholder of its own';
  }
  return undefined;
}

function unsendable(field: FieldDefinition, value: string): string | undefined {
  if (!multiLineFields.includes(field.name) && /[\r\n]/.test(value)) {
    return `${field.name} must be one line, and this contact's values put a line break into it`;
  }
  if (field.limit !== undefined && field.source === 'interface' && value.length > field.limit) {
    return `${field.name} would be ${value.length} characters; at most ${field.limit} are allowed`;
  }
  return value === '' ? undefined : wrongValue(field, value);
}
