import { htmlEscape } from 'escape-goat';
import type { CampaignFile, Envelope, MessageFields } from '../domain.ts';
import type { ComposedField, ComposedFile, Composition } from './composition.ts';
import { nameOfPath, wrongPathValue } from './files.ts';
import { withDerived } from './mapping.ts';
import { render, type Segment, type Template } from './placeholders.ts';
import { isBlank, wrongCharacter, wrongLine, wrongOrBlankLine, wrongValue } from './values.ts';

/** What one contact contributes: its request-level values and its destination's fields. */
export type Personalised =
  | { readonly kind: 'personalised'; readonly envelope: Envelope; readonly destination: MessageFields }
  | Invalid;

type Invalid = { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

/** A contact's value in a column; empty where it has none. */
type ValueIn = (column: string) => string;

/** Renders one contact's envelope and destination, or says which of its values cannot be sent. */
export function personalise(composition: Composition, valueInFile: ValueIn): Personalised {
  const valueIn = withDerived(composition.derived, valueInFile);
  const envelope = renderEnvelope(composition, valueIn);
  const fault =
    unsafeValue(composition, valueIn) ??
    unsafeText(composition, valueIn) ??
    unsafePath(composition, valueIn) ??
    wrongField(composition, envelope) ??
    wrongKeypad(envelope) ??
    wrongFile(envelope) ??
    missingContent(composition, envelope) ??
    wrongDestination(composition, valueIn);
  return fault ?? { kind: 'personalised', envelope, destination: renderDestination(composition, valueIn) };
}

function renderEnvelope(composition: Composition, valueIn: ValueIn): Envelope {
  return {
    fields: renderFields(templatesFor(composition, valueIn), valueIn),
    keypads: composition.keypads.map(({ tone, routeNumber }) => ({
      Tone: tone,
      RouteNumber: render(routeNumber, valueIn),
    })),
    files: composition.files.map((file) => renderFile(file, valueIn)),
    audio: renderFields(composition.audio, valueIn),
  };
}

/** Fields that are empty for this contact are left out. */
function renderFields(fields: readonly ComposedField[], valueIn: ValueIn): MessageFields {
  const rendered: Record<string, string> = {};
  for (const { definition, template } of fields) {
    const escapeValue = definition.name === 'MessageHTML' ? (value: string) => htmlEscape(value) : undefined;
    const value = render(template, valueIn, escapeValue);
    if (value !== '') rendered[definition.name] = value;
  }
  return rendered;
}

function renderFile({ path: pathTemplate, name }: ComposedFile, valueIn: ValueIn): CampaignFile {
  const path = render(pathTemplate, valueIn);
  return { path, name: name === undefined ? nameOfPath(path) : render(name, valueIn) };
}

function renderDestination({ slots }: Composition, valueIn: ValueIn): MessageFields {
  const destination: Record<string, string> = {};
  for (const { field, column, fallback } of slots) {
    const value = valueIn(column) || fallback;
    if (value !== '') destination[field] = value;
  }
  return destination;
}

/**
 * What the service puts in for an empty destination field is not shown (interface.md, 2.5), so the text of a contact
 * with an empty value is rendered here, and goes into a request of its own kind.
 */
function templatesFor(
  { fields, merge, serviceText }: Composition,
  valueIn: ValueIn,
): readonly ComposedField[] {
  if (merge.kind !== 'service' || !serviceText) return fields;
  const hasEmptyValue = merge.slots.some(({ column, fallback }) => (valueIn(column) || fallback) === '');
  if (!hasEmptyValue) return fields;
  return fields.map((field) => (field.definition === serviceText.definition ? serviceText : field));
}

const placeholderInValue = 'contains "[[", which the service would read as a placeholder of its own';

/** Characters are judged here for all that is rendered: those of the campaign's own texts were, when it was checked. */
function unsafeValue(
  { usedColumns, serviceText, target }: Composition,
  valueIn: ValueIn,
): Invalid | undefined {
  for (const column of usedColumns) {
    const value = valueIn(column);
    const character = wrongCharacter(target.format, value);
    if (character !== undefined) return invalid(column, character);
    if (serviceText && value.includes('[[')) return invalid(column, placeholderInValue);
  }
  return undefined;
}

/** The text as it is read must not be blank, nor may a value make a placeholder together with the text beside it. */
function unsafeText({ serviceText }: Composition, valueIn: ValueIn): Invalid | undefined {
  if (!serviceText) return undefined;
  const { name } = serviceText.definition;
  const read = render(serviceText.template.map(standIn), valueIn);
  if (isBlank(read)) return invalid(name, emptyMessage);
  return read.includes('[[') ? invalid(name, placeholderInValue) : undefined;
}

/** The service's own placeholders are right where they are. */
function standIn(segment: Segment): Segment {
  return segment.kind === 'service' ? { kind: 'text', text: '\0' } : segment;
}

function unsafePath({ files, audio }: Composition, valueIn: ValueIn): Invalid | undefined {
  const paths: readonly (readonly [string, Template])[] = [
    ...files.map(({ path }, index) => [`files.${index}.file`, path] as const),
    ...audio.map(({ definition, template }) => [definition.name, template] as const),
  ];
  for (const [column, template] of paths) {
    const detail = wrongPathValue(template, valueIn);
    if (detail !== undefined) return invalid(column, detail);
  }
  return undefined;
}

function wrongField({ fields, audio, target }: Composition, envelope: Envelope): Invalid | undefined {
  for (const { definition } of [...fields, ...audio]) {
    const value = envelope.fields[definition.name] ?? envelope.audio[definition.name];
    const detail = value === undefined ? undefined : wrongValue(target, definition, value);
    if (detail !== undefined) return invalid(definition.name, detail);
  }
  return undefined;
}

function wrongKeypad({ keypads }: Envelope): Invalid | undefined {
  for (const { Tone, RouteNumber } of keypads) {
    const detail = wrongOrBlankLine(RouteNumber);
    if (detail !== undefined) return invalid('Keypads', `button ${Tone}: ${detail}`);
  }
  return undefined;
}

function wrongFile({ files }: Envelope): Invalid | undefined {
  for (const [index, file] of files.entries()) {
    const path = wrongOrBlankLine(file.path);
    if (path !== undefined) return invalid(`files.${index}.file`, path);
    const name = wrongOrBlankLine(file.name);
    if (name !== undefined) return invalid(`files.${index}.name`, name);
  }
  return undefined;
}

const emptyMessage = 'the message would be empty';

function missingContent({ contentFields }: Composition, { fields, audio }: Envelope): Invalid | undefined {
  const hasContent = contentFields.some((name) => !isBlank(fields[name] ?? audio[name] ?? ''));
  return contentFields.length === 0 || hasContent
    ? undefined
    : invalid(contentFields.join(', '), emptyMessage);
}

/** Where the service merges, the values are parts of a text, which may have several lines. */
function wrongDestination({ slots, serviceText }: Composition, valueIn: ValueIn): Invalid | undefined {
  if (serviceText) return undefined;
  for (const { column } of slots) {
    if (wrongLine(valueIn(column)) !== undefined) {
      return invalid(column, 'expected one line, got a line break in it');
    }
  }
  return undefined;
}

function invalid(column: string, detail: string): Invalid {
  return { kind: 'invalid', column, detail };
}
