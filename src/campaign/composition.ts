import {
  type DestinationField,
  destinationFields,
  InputError,
  type InterfaceName,
  type MessageFields,
  type Problem,
} from '../domain.ts';
import { nearest } from '../platform/nearest.ts';
import {
  type FieldDefinition,
  isServicePlaceholder,
  mergedByService,
  messageFields,
} from '../wire/fields.ts';
import { type Campaign, contentFields, messageOf } from './campaign.ts';
import type { Definition } from './definition.ts';
import { type MergePlan, planMerge, type Slot } from './merge.ts';
import { parseTemplate, type Resolution, type Template } from './placeholders.ts';

/** A campaign compiled against its contact file's header: all that is needed to personalise one contact. */
export type Composition = {
  readonly merge: MergePlan;
  readonly fields: readonly ComposedField[];
  readonly slots: readonly Slot[];
  readonly recipientColumn: string;
  /** Columns whose values go into the message or the destination. */
  readonly usedColumns: readonly string[];
  /** Fields of which one must hold text, or nothing would be sent; none where files are enough. */
  readonly contentFields: readonly string[];
  /** The text in which the service fills its own placeholders, before columns got destination fields. */
  readonly serviceText: ComposedField | undefined;
};

export type ComposedField = { readonly definition: FieldDefinition; readonly template: Template };

/** They say who pays, not what is read. */
const billingFields: readonly string[] = ['SubAccount', 'Department', 'ChargeCode'];

/**
 * @param header the contact file's column names
 * @throws InputError for a mapped column the file does not have and for a faulty placeholder, with its place.
 */
export function compose(
  campaign: Campaign,
  interfaceName: InterfaceName,
  header: readonly string[],
): Composition {
  const mapped = mappedColumns(campaign.value.contacts.columns);
  const merged = mergedByService(interfaceName, campaign.value.channel);
  const resolve = (name: string, field: string): Resolution => {
    // The service's placeholders come first: a column named STOP must not take the place of the opt-out link.
    const services = field === merged?.field && isServicePlaceholder(campaign.value.channel, name);
    return services ? { kind: 'service' } : resolveColumn(name, mapped, header);
  };
  const known = [...header, ...Object.keys(mapped)];
  const { parsed, problems } = parseMessage(campaign, interfaceName, resolve, known);
  problems.unshift(...mappingProblems(campaign, mapped, header));
  if (problems.length > 0) throw new InputError(problems);

  const serviceText = parsed.find(({ definition: { name } }) => name === merged?.field);
  const merge = planMerge(
    serviceText ? serviceText.template : readTemplates(parsed),
    merged?.destinationFields ?? [],
    mapped,
  );
  const fields = parsed.map((field) =>
    merge.kind === 'service' && field === serviceText ? { ...field, template: merge.template } : field,
  );
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
        ...fields.flatMap(({ template }) => columnsOf(template)),
      ]),
    ],
    contentFields: contentFields(interfaceName, campaign.value),
    serviceText,
  };
}

/** Every field that is set, and what is wrong with its placeholders; `known` are the names that were meant, maybe. */
function parseMessage(
  { value, locate }: Campaign,
  interfaceName: InterfaceName,
  resolve: (name: string, field: string) => Resolution,
  known: readonly string[],
): { parsed: ComposedField[]; problems: Problem[] } {
  const message = messageOf(value);
  const parsed: ComposedField[] = [];
  const problems: Problem[] = [];
  for (const definition of messageFields(interfaceName, value.channel)) {
    const source = message[definition.name];
    if (source === undefined) continue;
    const result = parseTemplate(source, (name) => resolve(name, definition.name));
    parsed.push({ definition, template: result.template });

    const where = locate(['message', definition.name]);
    const field = `"message.${definition.name}"`;
    const faults = [
      ...result.unknown.map((name) => `Unknown placeholder [[${name}]] in ${field}.${nearest(name, known)}`),
      ...result.unclosed.map(
        (text) => `${field}: "${text}" is no placeholder; expected [[Column]] or [[Column|fallback]].`,
      ),
      ...missingFiles(result.template, value).map((fault) => `${field}: ${fault}`),
    ];
    problems.push(...faults.map((what) => ({ where, what })));
  }
  return { parsed, problems };
}

function mappedColumns(columns: Readonly<Record<string, unknown>>): MessageFields {
  const mapped: Record<string, string> = {};
  for (const [field, column] of Object.entries(columns)) {
    if (typeof column === 'string') mapped[field] = column;
  }
  return mapped;
}

function mappingProblems(
  { value: { contacts }, locate }: Campaign,
  mapped: MessageFields,
  header: readonly string[],
): Problem[] {
  return Object.entries(mapped)
    .filter(([, column]) => !header.includes(column))
    .map(([field, column]) => ({
      where: locate(['contacts', 'columns', field]),
      what: `${contacts.file} has no column "${column}".${nearest(column, header)} Its columns: ${header.join(', ')}.`,
    }));
}

function resolveColumn(name: string, mapped: MessageFields, header: readonly string[]): Resolution {
  const column = Object.hasOwn(mapped, name) ? mapped[name] : header.find((candidate) => candidate === name);
  return column === undefined ? { kind: 'unknown' } : { kind: 'column', column };
}

/** `[[File2]]` links to the second file (interface.md, 2.3). */
function missingFiles(template: Template, { files }: Definition): string[] {
  return template.flatMap((segment) => {
    const number = segment.kind === 'service' ? /^\[\[File(\d+)\]\]$/.exec(segment.text)?.[1] : undefined;
    return number !== undefined && Number(number) > files.length
      ? [`[[File${number}]] links to a file, and "files" has ${files.length || 'none'}.`]
      : [];
  });
}

/** All that a recipient may get to read, in channels where the service does not merge. */
function readTemplates(fields: readonly ComposedField[]): Template {
  return fields
    .filter(({ definition: { name } }) => !billingFields.includes(name))
    .flatMap(({ template }) => template);
}

/** The campaign's own mapping, overlaid with the fields that carry values to be merged. */
function destinationSlots(mapped: MessageFields, merge: MergePlan): Slot[] {
  const merged = merge.kind === 'service' ? merge.slots : [];
  return destinationFields.flatMap((field: DestinationField): Slot[] => {
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
