import { htmlEscape } from 'escape-goat';
import type { MessageFields } from '../domain.ts';
import { wrongValue } from './campaign.ts';
import type { ComposedField, Composition } from './composition.ts';
import { render, type Segment } from './placeholders.ts';

/** What one contact contributes: its request-level values and its destination's fields. */
export type Personalised =
  | { readonly kind: 'personalised'; readonly envelope: MessageFields; readonly destination: MessageFields }
  | Invalid;

type Invalid = { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

/** Renders one contact's envelope and destination, or says which of its values cannot be sent. */
export function personalise(composition: Composition, valueIn: (column: string) => string): Personalised {
  const unsafe = unsafeValue(composition, valueIn) ?? unsafeText(composition, valueIn);
  if (unsafe) return unsafe;

  const envelope: Record<string, string> = {};
  for (const { definition, template } of templatesFor(composition, valueIn)) {
    const escapeValue = definition.name === 'MessageHTML' ? (value: string) => htmlEscape(value) : undefined;
    const value = render(template, valueIn, escapeValue);
    if (value === '') continue;
    const detail = wrongValue(definition, value);
    if (detail) return { kind: 'invalid', column: definition.name, detail };
    envelope[definition.name] = value;
  }
  const { contentFields, serviceText } = composition;
  if (contentFields.length > 0 && contentFields.every((field) => isBlank(envelope[field] ?? ''))) {
    return { kind: 'invalid', column: contentFields.join(', '), detail: emptyMessage };
  }

  const destination: Record<string, string> = {};
  for (const { field, column, fallback } of composition.slots) {
    const value = valueIn(column) || fallback;
    if (!serviceText && /[\r\n]/.test(value)) {
      return { kind: 'invalid', column, detail: 'expected one line, got a line break in it' };
    }
    if (value !== '') destination[field] = value;
  }
  return { kind: 'personalised', envelope, destination };
}

/**
 * What the service puts in for an empty destination field is not shown (interface.md, 2.5), so the text of a contact
 * with an empty value is rendered here, and goes into a request of its own kind.
 */
function templatesFor(
  { fields, merge, serviceText }: Composition,
  valueIn: (column: string) => string,
): readonly ComposedField[] {
  if (merge.kind !== 'service' || !serviceText) return fields;
  const hasEmptyValue = merge.slots.some(({ column, fallback }) => (valueIn(column) || fallback) === '');
  if (!hasEmptyValue) return fields;
  return fields.map((field) => (field.definition === serviceText.definition ? serviceText : field));
}

const emptyMessage = 'the message would be empty';
const placeholderInValue = 'contains "[[", which the service would read as a placeholder of its own';

function unsafeValue(
  { usedColumns, serviceText }: Composition,
  valueIn: (column: string) => string,
): Invalid | undefined {
  for (const column of usedColumns) {
    const value = valueIn(column);
    if (value.includes('\0')) return { kind: 'invalid', column, detail: 'contains a NUL character' };
    if (serviceText && value.includes('[[')) return { kind: 'invalid', column, detail: placeholderInValue };
  }
  return undefined;
}

/** The text as it is read must not be blank, nor may a value make a placeholder together with the text beside it. */
function unsafeText({ serviceText }: Composition, valueIn: (column: string) => string): Invalid | undefined {
  if (!serviceText) return undefined;
  const column = serviceText.definition.name;
  const read = render(serviceText.template.map(standIn), valueIn);
  if (isBlank(read)) return { kind: 'invalid', column, detail: emptyMessage };
  return read.includes('[[') ? { kind: 'invalid', column, detail: placeholderInValue } : undefined;
}

/** The service's own placeholders are right where they are. */
function standIn(segment: Segment): Segment {
  return segment.kind === 'service' ? { kind: 'text', text: '\0' } : segment;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
