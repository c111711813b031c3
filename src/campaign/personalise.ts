import type { Envelope, MessageFields } from '../domain/message.ts';
import { isBlank } from '../wire/json.ts';
import type { Composition } from './composition.ts';
import { createEnvelopeReader, emptyMessage } from './envelope.ts';
import { type Invalid, invalid, type ValueIn } from './invalid.ts';
import { createValueReader } from './mapping.ts';
import { render, type Segment } from './placeholders.ts';
import { characterError, lineBreakError } from './value-checks.ts';

export type Personalised =
  | { readonly kind: 'personalised'; readonly envelope: Envelope; readonly destination: MessageFields }
  | Invalid;

type Personaliser = (valueInFile: ValueIn) => Personalised;

export function createPersonaliser(composition: Composition): Personaliser {
  const readEnvelope = createEnvelopeReader(composition);
  const unsafeTextCheck = createUnsafeTextCheck(composition);
  return (valueInFile) => {
    const valueIn = createValueReader(composition.derived, valueInFile);
    const unsafe = checkCharacters(composition, valueIn) ?? unsafeTextCheck(valueIn);
    if (unsafe) return unsafe;
    const read = readEnvelope(valueIn);
    if (read.kind === 'invalid') return read;
    const fault = checkDestination(composition, valueIn);
    if (fault) return fault;
    return {
      kind: 'personalised',
      envelope: read.envelope,
      destination: renderDestination(composition, valueIn),
    };
  };
}

function renderDestination({ bindings }: Composition, valueIn: ValueIn): MessageFields {
  const destination: Record<string, string> = {};
  for (const { field, column, fallback } of bindings) {
    const value = valueIn(column) || fallback;
    if (value !== '') destination[field] = value;
  }
  return destination;
}

const placeholderInValue = 'contains "[[", which the service would read as a placeholder';

/** Checks the characters of all values; those of the campaign's own texts were checked with it. */
function checkCharacters(
  { usedColumns, serviceText, account }: Composition,
  valueIn: ValueIn,
): Invalid | undefined {
  for (const column of usedColumns) {
    const value = valueIn(column);
    const character = characterError(account.format, value);
    if (character !== undefined) return invalid(column, character);
    if (serviceText && value.includes('[[')) return invalid(column, placeholderInValue);
  }
  return undefined;
}

/** The rendered text must not be blank, and a value must not form a placeholder with the text beside it. */
function createUnsafeTextCheck({
  serviceText,
  usedColumns,
}: Composition): (valueIn: ValueIn) => Invalid | undefined {
  if (!serviceText) return () => undefined;
  const { name } = serviceText.definition;
  const template = serviceText.template.map(withNeutralText);
  const neverBlank = template.some((segment) => segment.kind === 'text' && !isBlank(segment.text));
  const bracketInFallback = template.some(
    (segment) => segment.kind === 'column' && segment.fallback.includes('['),
  );
  const mayBeUnsafe = (valueIn: ValueIn): boolean =>
    !neverBlank || bracketInFallback || usedColumns.some((column) => valueIn(column).includes('['));
  return (valueIn) => {
    // The campaign's own text is already checked, and most values cannot change the result.
    if (!mayBeUnsafe(valueIn)) return undefined;
    const read = render(template, valueIn);
    if (isBlank(read)) return invalid(name, emptyMessage);
    return read.includes('[[') ? invalid(name, placeholderInValue) : undefined;
  };
}

function withNeutralText(segment: Segment): Segment {
  return segment.kind === 'service' ? { kind: 'text', text: '\0' } : segment;
}

/** Where the service merges, values are parts of a text, which can have line breaks. */
function checkDestination({ bindings, serviceText }: Composition, valueIn: ValueIn): Invalid | undefined {
  if (serviceText) return undefined;
  for (const { column } of bindings) {
    if (lineBreakError(valueIn(column)) !== undefined) {
      return invalid(column, 'expected one line, got a line break in it');
    }
  }
  return undefined;
}
