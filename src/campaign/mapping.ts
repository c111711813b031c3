import { type DestinationField, destinationFields, type MessageFields, type Problem } from '../domain.ts';
import { nearest } from '../platform/nearest.ts';
import { destinationFieldsOf } from '../wire/destination-fields.ts';
import type { Campaign } from './campaign.ts';
import { guessColumns } from './guess.ts';
import {
  columnsOf,
  hasPlaceholder,
  parseTemplate,
  type Resolution,
  render,
  type Template,
} from './placeholders.ts';
import type { CampaignTarget } from './target.ts';

/**
 * Which column fills which destination field. A field that is put together from several columns, or is the same for
 * everybody, is a column too: a derived one, so that all that works with columns (placeholders, the merge plan, the
 * checks of values) works with it.
 */
export type Mapping = {
  /** The column of each mapped field, `Recipient` included. */
  readonly columns: MessageFields;
  /** What the derived columns are made of. */
  readonly derived: DerivedColumns;
  readonly sources: readonly FieldSource[];
  readonly problems: readonly Problem[];
};

/** Derived columns by their names: no column that a campaign can name has brackets in its own. */
export type DerivedColumns = ReadonlyMap<string, Template>;

/** Where a destination field comes from, as `plan` shows it. */
export type FieldSource = {
  readonly field: DestinationField;
  readonly kind: 'column' | 'guessed' | 'template' | 'constant';
  /** The column, the template as it is written, or the constant. */
  readonly source: string;
};

/**
 * Without `contacts.columns` all fields are guessed; with it, what it says holds and only a missing `Recipient` is:
 * a campaign that says what is sent must not send more than that.
 */
export function mapColumns(campaign: Campaign, target: CampaignTarget, header: readonly string[]): Mapping {
  const columns: Record<string, string> = {};
  const derived = new Map<string, Template>();
  const sources: FieldSource[] = [];
  const problems: Problem[] = [];
  const { channel, contacts } = campaign.value;

  for (const field of destinationFields) {
    const written = contacts.columns?.[field];
    const where = campaign.locate(['contacts', 'columns', field]);
    if (written === undefined) {
      if (field !== 'Recipient' && contacts.columns !== undefined) continue;
      if (!destinationFieldsOf(target.interface).includes(field)) continue;
      const candidates = guessColumns(field, channel, header);
      const [column, ...others] = candidates;
      if (column !== undefined && others.length === 0) {
        columns[field] = column;
        sources.push({ field, kind: 'guessed', source: column });
      } else if (field === 'Recipient') {
        problems.push({ where, what: noRecipient(campaign, candidates, header) });
      }
    } else if (typeof written !== 'string') {
      columns[field] = derivedName(field);
      derived.set(derivedName(field), [{ kind: 'text', text: written.value }]);
      sources.push({ field, kind: 'constant', source: written.value });
    } else if (hasPlaceholder(written)) {
      const { template, faults } = parseComposition(field, written, header);
      columns[field] = derivedName(field);
      derived.set(derivedName(field), template);
      sources.push({ field, kind: 'template', source: written });
      problems.push(...faults.map((what) => ({ where, what })));
    } else {
      columns[field] = written;
      sources.push({ field, kind: 'column', source: written });
      problems.push(...unknownColumn(campaign, ['contacts', 'columns', field], written, header));
    }
  }
  return { columns, derived, sources, problems };
}

/** A contact's values, those of derived columns among them. The ends are trimmed: a name may lack its first part. */
export function withDerived(
  derived: DerivedColumns,
  valueIn: (column: string) => string,
): (column: string) => string {
  if (derived.size === 0) return valueIn;
  return (column) => {
    const template = derived.get(column);
    return template === undefined ? valueIn(column) : render(template, valueIn).trim();
  };
}

/** The columns of the file that a column stands for, and itself. */
export function withSources(derived: DerivedColumns, column: string): string[] {
  return [...columnsOf(derived.get(column) ?? []), column];
}

/** A problem, or none, with a column that a campaign names. */
export function unknownColumn(
  { value: { contacts }, locate }: Campaign,
  path: readonly (string | number)[],
  column: string,
  header: readonly string[],
): Problem[] {
  if (header.includes(column)) return [];
  const what = `${contacts.file} has no column "${column}".${nearest(column, header)} ${itsColumns(header)}`;
  return [{ where: locate(path), what }];
}

function derivedName(field: DestinationField): string {
  return `[[${field}]]`;
}

function parseComposition(
  field: DestinationField,
  source: string,
  header: readonly string[],
): { readonly template: Template; readonly faults: readonly string[] } {
  const resolve = (column: string): Resolution =>
    header.includes(column) ? { kind: 'column', column } : { kind: 'unknown' };
  const { template, unknown, unclosed } = parseTemplate(source, resolve);
  const path = `"contacts.columns.${field}"`;
  return {
    template,
    faults: [
      ...unknown.map((name) => `Unknown column [[${name}]] in ${path}.${nearest(name, header)}`),
      ...unclosed.map(
        (text) => `${path}: "${text}" is no placeholder; expected [[Column]] or [[Column|fallback]].`,
      ),
    ],
  };
}

function noRecipient(
  { value: { channel, contacts } }: Campaign,
  candidates: readonly string[],
  header: readonly string[],
): string {
  const say = `Say which with "contacts.columns": { Recipient: … }.`;
  if (candidates.length === 0) {
    return `No column of ${contacts.file} has a name that is usual for the recipient of ${channel}. ${say} ${itsColumns(header)}`;
  }
  return `The columns ${candidates.join(', ')} of ${contacts.file} could each be the recipient of ${channel}. ${say}`;
}

function itsColumns(header: readonly string[]): string {
  return `Its columns: ${header.join(', ')}.`;
}
