import type { DestinationField, MessageFields } from '../domain/message.ts';
import type { Problem } from '../domain/problems.ts';
import { didYouMean, listNames } from '../platform/suggestions.ts';
import { destinationFieldsOf } from '../wire/message-parts.ts';
import type { Campaign } from './campaign.ts';
import { standardInput } from './contacts-definition.ts';
import { guessColumns } from './guess-columns.ts';
import {
  columnsOf,
  hasPlaceholder,
  parseTemplate,
  type Resolution,
  render,
  type Template,
  templateFaults,
} from './placeholders.ts';
import type { SendingAccount } from './sending-account.ts';

/**
 * Which column fills which destination field. A template or a constant becomes a derived column, so that
 * placeholders, the merge plan and value checks treat it like any other.
 */
type Mapping = {
  readonly columns: MessageFields;
  /** Those that the campaign maps itself. */
  readonly explicit: MessageFields;
  /** The templates of derived columns. */
  readonly derived: DerivedColumns;
  readonly sources: readonly FieldSource[];
  readonly problems: readonly Problem[];
};

/** By column name. No column that a campaign can name has brackets. */
export type DerivedColumns = ReadonlyMap<string, Template>;

export type FieldSource = {
  readonly field: DestinationField;
  readonly kind: 'column' | 'guessed' | 'template' | 'constant';
  /** The column, the template as written, or the constant. */
  readonly source: string;
};

/**
 * Without `contacts.columns`, all fields are guessed, and those that the message uses are sent. With it, only a
 * missing `Recipient` is guessed: a campaign that says what is sent must not send more.
 */
export function mapColumns(campaign: Campaign, account: SendingAccount, header: readonly string[]): Mapping {
  const { columns: written } = campaign.value.contacts;
  const fields = destinationFieldsOf(account.interface).flatMap((field) => {
    const source = written?.[field];
    if (source !== undefined) return [mapField(campaign, field, source, header)];
    return written === undefined || field === 'Recipient' ? [guessField(campaign, field, header)] : [];
  });

  const columns: Record<string, string> = {};
  const derived = new Map<string, Template>();
  for (const { source, template } of fields) {
    if (source === undefined) continue;
    columns[source.field] = template === undefined ? source.source : derivedName(source.field);
    if (template !== undefined) derived.set(derivedName(source.field), template);
  }
  return {
    columns,
    explicit: Object.fromEntries(
      fields.flatMap(({ source }) => {
        const column = source && source.kind !== 'guessed' ? columns[source.field] : undefined;
        return source && column !== undefined ? [[source.field, column]] : [];
      }),
    ),
    derived,
    sources: fields.flatMap(({ source }) => source ?? []),
    problems: fields.flatMap(({ problems }) => problems),
  };
}

/** No source: the guess has no candidate, or too many. */
type MappedField = {
  readonly source?: FieldSource;
  /** Given only for a derived column. */
  readonly template?: Template;
  readonly problems: readonly Problem[];
};

function mapField(
  campaign: Campaign,
  field: DestinationField,
  written: string | { readonly value: string },
  header: readonly string[],
): MappedField {
  if (typeof written !== 'string') {
    const { value } = written;
    return {
      source: { field, kind: 'constant', source: value },
      template: [{ kind: 'text', text: value }],
      problems: [],
    };
  }
  const path = ['contacts', 'columns', field];
  if (!hasPlaceholder(written)) {
    return {
      source: { field, kind: 'column', source: written },
      problems: columnProblems(campaign, path, written, header),
    };
  }
  const parsed = parseTemplate(
    written,
    (column): Resolution => (header.includes(column) ? { kind: 'column', column } : { kind: 'unknown' }),
  );
  return {
    source: { field, kind: 'template', source: written },
    template: parsed.template,
    problems: templateFaults(parsed, path.join('.'), 'column', header).map((what) => ({
      where: campaign.locate(path),
      what,
    })),
  };
}

function guessField(campaign: Campaign, field: DestinationField, header: readonly string[]): MappedField {
  const candidates = guessColumns(field, campaign.value.channel, header);
  const [column, ...others] = candidates;
  if (column !== undefined && others.length === 0) {
    return { source: { field, kind: 'guessed', source: column }, problems: [] };
  }
  // Only the recipient is required.
  if (field !== 'Recipient') return { problems: [] };
  const where = campaign.locate(['contacts', 'columns', field]);
  return { problems: [{ where, what: recipientColumnError(campaign, candidates, header) }] };
}

/** Reads a contact's values, derived columns included. Ends are trimmed: the first part of a name can be empty. */
export function createValueReader(
  derived: DerivedColumns,
  valueIn: (column: string) => string,
): (column: string) => string {
  if (derived.size === 0) return valueIn;
  return (column) => {
    const template = derived.get(column);
    return template === undefined ? valueIn(column) : render(template, valueIn).trim();
  };
}

export function columnWithSources(derived: DerivedColumns, column: string): string[] {
  return [...columnsOf(derived.get(column) ?? []), column];
}

export function columnProblems(
  { value: { contacts }, locate }: Campaign,
  path: readonly (string | number)[],
  column: string,
  header: readonly string[],
): Problem[] {
  if (header.includes(column)) return [];
  const what = `${nameOfFirstFile(contacts)} has no column "${column}".${didYouMean(column, header)} ${formatColumns(header)}`;
  return [{ where: locate(path), what }];
}

function derivedName(field: DestinationField): string {
  return `[[${field}]]`;
}

function recipientColumnError(
  { value: { channel, contacts } }: Campaign,
  candidates: readonly string[],
  header: readonly string[],
): string {
  const remedy = `Set it with "contacts.columns": { Recipient: … }.`;
  if (candidates.length === 0) {
    const file = nameOfFirstFile(contacts);
    const address = header.find((name) => /^\+?\d[\d ()./-]{6,}$|^[^\s@]+@[^\s@]+$/.test(name));
    if (address !== undefined)
      return `${file} has no header: "${address}" is a recipient. Insert a first line with the column names.`;
    return `No column of ${file} has a usual name for the recipient of ${channel}. ${remedy} ${formatColumns(header)}`;
  }
  return `The columns ${candidates.join(', ')} of ${nameOfFirstFile(contacts)} could each be the recipient of ${channel}. ${remedy}`;
}

function nameOfFirstFile({ file: [first = ''] }: Campaign['value']['contacts']): string {
  return first === standardInput ? 'standard input' : first;
}

function formatColumns(header: readonly string[]): string {
  return `Its columns: ${listNames(header)}.`;
}
