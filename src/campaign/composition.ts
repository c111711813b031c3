import type { ContactIdentity } from '../domain/contacts.ts';
import { type DestinationField, destinationFields, type MessageFields } from '../domain/message.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import type { FieldDefinition } from '../wire/fields.ts';
import { mergedByService } from '../wire/service-merge.ts';
import { type Campaign, contentFields, fieldsOf } from './campaign.ts';
import type { Definition } from './definition.ts';
import {
  columnProblems,
  columnWithSources,
  type DerivedColumns,
  type FieldSource,
  mapColumns,
} from './mapping.ts';
import { type FieldBinding, type MergePlan, planMerge } from './merge.ts';
import { columnsOf, type Template } from './placeholders.ts';
import { createRowFilter, type RowFilter } from './row-filter.ts';
import type { SendingAccount } from './sending-account.ts';
import { createTemplateReader, type ReadTemplate } from './template-reader.ts';
import { createZoneReader, type ReadZones } from './window-zones.ts';

/** A campaign compiled against the header of its contact files. */
export type Composition = {
  readonly account: SendingAccount;
  readonly merge: MergePlan;
  readonly fields: readonly ComposedField[];
  /** Their templates are paths of recordings. */
  readonly audio: readonly ComposedField[];
  readonly keypads: readonly ComposedKeypad[];
  readonly files: readonly ComposedFile[];
  readonly bindings: readonly FieldBinding[];
  readonly recipientColumn: string;
  /** Column with the country of a contact's phone number; undefined for email. */
  readonly countryColumn: string | undefined;
  /** Default country of phone numbers without a country code. */
  readonly country: string | undefined;
  readonly identity: ContactIdentity;
  readonly filter: RowFilter | undefined;
  readonly readZones: ReadZones | undefined;
  readonly derived: DerivedColumns;
  /** Without unused guesses. */
  readonly mapping: readonly FieldSource[];
  /** With the sources of derived columns. */
  readonly usedColumns: readonly string[];
  /** Columns that each contact file must have. */
  readonly requiredColumns: readonly string[];
  /** Columns without a fallback amid the text of a message. */
  readonly columnsInText: readonly string[];
  /** One of them must hold text. */
  readonly contentFields: readonly string[];
  /** The text with the service's placeholders, before columns got destination fields. */
  readonly serviceText: ComposedField | undefined;
};

export type ComposedField = { readonly definition: FieldDefinition; readonly template: Template };
export type ComposedKeypad = { readonly tone: string; readonly routeNumber: Template };
/** `name` is the last part of the path by default. */
export type ComposedFile = { readonly path: Template; readonly name: Template | undefined };

/** Fields for billing, which recipients never see. */
const billingFields: readonly string[] = ['SubAccount', 'Department', 'ChargeCode'];

/**
 * @param header column names of the contact files
 * @throws InputError for missing columns and faulty placeholders
 */
export function compose(campaign: Campaign, account: SendingAccount, header: readonly string[]): Composition {
  const { contacts } = campaign.value;
  const mapping = mapColumns(campaign, account, header);
  const { columns: mapped, derived } = mapping;
  const { read, problems: templateProblems, named } = createTemplateReader(campaign, mapped, header);
  const merged = mergedByService(account.interface, campaign.value.channel);
  const parsedFields = fieldsOf(campaign.value, account.interface).map(({ definition, key, source }) => ({
    definition,
    template: read(['message', key], source, definition.name === merged?.field ? true : undefined),
  }));
  const keypads = composeKeypads(campaign.value, read);
  const files = composeFiles(campaign.value, read);
  const problems = [...mapping.problems, ...rowProblems(campaign, header), ...templateProblems];
  if (problems.length > 0) throw new InputError(problems);

  const serviceText = parsedFields.find(({ definition: { name } }) => name === merged?.field);
  const merge = planMerge(
    serviceText
      ? serviceText.template
      : [...recipientTemplates(parsedFields), ...templatesOf(keypads, files)],
    merged?.destinationFields ?? [],
    mapped,
  );
  const fields = parsedFields.map((field) =>
    merge.kind === 'service' && field === serviceText ? { ...field, template: merge.template } : field,
  );
  const bindings = destinationBindings(mapping.explicit, merge);
  const { Recipient: recipientColumn = '' } = mapped;
  const countryColumn = campaign.value.channel === 'email' ? undefined : contacts.countryColumn;
  const usedColumns = listUsedColumns({ bindings, fields, keypads, files, derived });
  return {
    account,
    merge,
    fields: fields.filter(({ definition }) => definition.type !== 'audio'),
    audio: fields.filter(({ definition }) => definition.type === 'audio'),
    keypads,
    files,
    bindings,
    recipientColumn,
    countryColumn,
    country: contacts.country,
    identity: { key: contacts.key, duplicates: contacts.duplicates },
    filter: createRowFilter(contacts.where),
    readZones: createZoneReader(campaign.value, recipientColumn),
    derived,
    mapping: mapping.sources.filter(
      ({ field, kind }) =>
        kind !== 'guessed' ||
        field === 'Recipient' ||
        named.has(field) ||
        bindings.some((binding) => binding.field === field),
    ),
    usedColumns,
    columnsInText: listColumnsInText(parsedFields),
    requiredColumns: [
      ...new Set([
        recipientColumn,
        ...(countryColumn === undefined ? [] : [countryColumn]),
        ...rowColumns(campaign.value),
        ...usedColumns.filter((column) => !derived.has(column)),
      ]),
    ],
    contentFields: contentFields(account.interface, campaign.value),
    serviceText,
  };
}

/** An empty value leaves a gap there. Where a field is a column alone, the field is omitted. */
function listColumnsInText(fields: readonly ComposedField[]): string[] {
  const texts = fields.filter(
    ({ definition: { name }, template }) =>
      !billingFields.includes(name) && template.some(({ kind }) => kind === 'text'),
  );
  return [
    ...new Set(
      texts.flatMap(({ template }) =>
        template.flatMap((part) => (part.kind === 'column' && part.fallback === '' ? [part.column] : [])),
      ),
    ),
  ];
}

type ColumnUsers = Pick<Composition, 'bindings' | 'fields' | 'keypads' | 'files' | 'derived'>;

function listUsedColumns({ bindings, fields, keypads, files, derived }: ColumnUsers): string[] {
  const columns = [
    ...bindings.map(({ column }) => column),
    ...fields.flatMap(({ template }) => columnsOf(template)),
    ...columnsOf(templatesOf(keypads, files)),
  ];
  return [...new Set(columns.flatMap((column) => columnWithSources(derived, column)))];
}

/** Columns that decide which rows are sent, as what, and when. */
export function rowColumns({ contacts, window }: Pick<Definition, 'contacts' | 'window'>): string[] {
  return [...(contacts.where ?? []).map(({ column }) => column), ...contacts.key, ...zoneColumns({ window })];
}

function composeKeypads({ message: { Keypads = [] } }: Definition, read: ReadTemplate): ComposedKeypad[] {
  return Keypads.map(({ Tone, RouteNumber }, index) => ({
    tone: Tone,
    routeNumber: read(['message', 'Keypads', index, 'RouteNumber'], RouteNumber),
  })).sort((one, other) => Number(one.tone) - Number(other.tone));
}

function composeFiles({ files }: Definition, read: ReadTemplate): ComposedFile[] {
  return files.map(({ file, name }, index) => ({
    path: read(['files', index, 'file'], file),
    name: name === undefined ? undefined : read(['files', index, 'name'], name),
  }));
}

export function templatesOf(keypads: readonly ComposedKeypad[], files: readonly ComposedFile[]): Template {
  return [
    ...keypads.flatMap(({ routeNumber }) => routeNumber),
    ...files.flatMap(({ path, name = [] }) => [...path, ...name]),
  ];
}

function rowProblems(campaign: Campaign, header: readonly string[]): Problem[] {
  const { countryColumn, where = [], key } = campaign.value.contacts;
  return [
    ...(countryColumn === undefined
      ? []
      : columnProblems(campaign, ['contacts', 'countryColumn'], countryColumn, header)),
    ...where.flatMap(({ column }, index) =>
      columnProblems(campaign, ['contacts', 'where', index, 'column'], column, header),
    ),
    ...key.flatMap((column, index) => columnProblems(campaign, ['contacts', 'key', index], column, header)),
    ...zoneColumns(campaign.value).flatMap((column) =>
      columnProblems(campaign, ['window', 'timeZone', 'column'], column, header),
    ),
  ];
}

function zoneColumns({ window }: Pick<Definition, 'window'>): string[] {
  return window?.timeZone?.kind === 'column' ? [window.timeZone.column] : [];
}

/** The content that a recipient can see or hear, where the service does not merge. */
function recipientTemplates(fields: readonly ComposedField[]): Template {
  return fields
    .filter(({ definition: { name } }) => !billingFields.includes(name))
    .flatMap(({ template }) => template);
}

/**
 * The campaign's own destination fields, overlaid with those that carry values for the service to merge. A guessed
 * column is not sent unless it is merged.
 */
function destinationBindings(mapped: MessageFields, merge: MergePlan): FieldBinding[] {
  const merged = merge.kind === 'service' ? merge.slots : [];
  return destinationFields.flatMap((field: DestinationField): FieldBinding[] => {
    if (field === 'Recipient') return [];
    const binding = merged.find((candidate) => candidate.field === field);
    if (binding) return [binding];
    const column = mapped[field];
    return column === undefined ? [] : [{ field, column, fallback: '' }];
  });
}
