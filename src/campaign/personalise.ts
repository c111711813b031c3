import type { Envelope, MessageFields } from '../domain/message.ts';
import type { Composition } from './composition.ts';
import { emptyMessage, envelopeReader } from './envelope.ts';
import { type Invalid, invalid, type ValueIn } from './invalid.ts';
import { withDerived } from './mapping.ts';
import { render, type Segment } from './placeholders.ts';
import { isBlank, wrongCharacter, wrongLine } from './values.ts';

export type Personalised =
  | { readonly kind: 'personalised'; readonly envelope: Envelope; readonly destination: MessageFields }
  | Invalid;

export type Personaliser = (valueInFile: ValueIn) => Personalised;

export function openPersonaliser(composition: Composition): Personaliser {
  const readEnvelope = envelopeReader(composition);
  const unsafeText = textJudge(composition);
  return (valueInFile) => {
    const valueIn = withDerived(composition.derived, valueInFile);
    const unsafe = unsafeValue(composition, valueIn) ?? unsafeText(valueIn);
    if (unsafe) return unsafe;
    const read = readEnvelope(valueIn);
    if (read.kind === 'invalid') return read;
    const fault = wrongDestination(composition, valueIn);
    if (fault) return fault;
    return {
      kind: 'personalised',
      envelope: read.envelope,
      destination: renderDestination(composition, valueIn),
    };
  };
}

function renderDestination({ slots }: Composition, valueIn: ValueIn): MessageFields {
  const destination: Record<string, string> = {};
  for (const { field, column, fallback } of slots) {
    const value = valueIn(column) || fallback;
    if (value !== '') destination[field] = value;
  }
  return destination;
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
function textJudge({ serviceText, usedColumns }: Composition): (valueIn: ValueIn) => Invalid | undefined {
  if (!serviceText) return () => undefined;
  const { name } = serviceText.definition;
  const template = serviceText.template.map(standIn);
  const neverBlank = template.some((segment) => segment.kind === 'text' && !isBlank(segment.text));
  const bracketInFallback = template.some(
    (segment) => segment.kind === 'column' && segment.fallback.includes('['),
  );
  const mayBeUnsafe = (valueIn: ValueIn): boolean =>
    !neverBlank || bracketInFallback || usedColumns.some((column) => valueIn(column).includes('['));
  return (valueIn) => {
    // The campaign's own words were judged when it was checked; most values can change nothing about that.
    if (!mayBeUnsafe(valueIn)) return undefined;
    const read = render(template, valueIn);
    if (isBlank(read)) return invalid(name, emptyMessage);
    return read.includes('[[') ? invalid(name, placeholderInValue) : undefined;
  };
}

/** The service's own placeholders are right where they are. */
function standIn(segment: Segment): Segment {
  return segment.kind === 'service' ? { kind: 'text', text: '\0' } : segment;
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
