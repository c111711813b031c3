import { escapeHtml } from '../domain/html.ts';
import type { CampaignFile, Envelope, MessageFields } from '../domain/message.ts';
import { BoundedCache } from '../platform/bounded-cache.ts';
import { isBlank } from '../wire/json.ts';
import { type ComposedField, type ComposedFile, type Composition, templatesOf } from './composition.ts';
import { nameOfPath, pathValueError } from './files.ts';
import { type Invalid, invalid, type ValueIn } from './invalid.ts';
import { columnsOf, render, type Template } from './placeholders.ts';
import { sendTimeError } from './send-times.ts';
import { lineError, valueError } from './value-checks.ts';

type ReadEnvelope = (
  valueIn: ValueIn,
) => { readonly kind: 'envelope'; readonly envelope: Envelope } | Invalid;

/**
 * Renders and checks envelopes. Contacts with the same values in the envelope's columns share one object while it
 * is cached: most campaigns have far fewer envelopes than contacts.
 */
export function createEnvelopeReader(composition: Composition): ReadEnvelope {
  const plain = createCachedReader(composition, composition.fields);
  const { merge, serviceText } = composition;
  if (merge.kind !== 'service' || !serviceText) return plain;
  // interface.md (2.5) does not show what the service inserts for an empty destination field. So Volley renders the
  // text of a contact with an empty value, which goes into a request of its own.
  const withText = createCachedReader(
    composition,
    composition.fields.map((field) => (field.definition === serviceText.definition ? serviceText : field)),
  );
  return (valueIn) => {
    const hasEmptyValue = merge.slots.some(({ column, fallback }) => (valueIn(column) || fallback) === '');
    return hasEmptyValue ? withText(valueIn) : plain(valueIn);
  };
}

function createCachedReader(composition: Composition, fields: readonly ComposedField[]): ReadEnvelope {
  const { audio, keypads, files } = composition;
  const templates = [...fields, ...audio].flatMap(({ template }) => template);
  const columns = [...new Set(columnsOf([...templates, ...templatesOf(keypads, files)]))];
  const cache = new BoundedCache<string, ReturnType<ReadEnvelope>>();
  return (valueIn) => {
    // No value that reaches this point contains NUL.
    let key = '';
    for (const column of columns) key += `${valueIn(column)}\0`;
    const found = cache.get(key);
    if (found) return found;
    const read = readEnvelope(composition, fields, valueIn);
    const size = read.kind === 'invalid' ? read.detail.length : charactersOf(read.envelope);
    cache.set(key, read, key.length + size);
    return read;
  };
}

/** How large an envelope is in a cache. */
export function charactersOf({ fields }: Envelope): number {
  let characters = 0;
  for (const name in fields) characters += fields[name]?.length ?? 0;
  return characters;
}

function readEnvelope(
  composition: Composition,
  fields: readonly ComposedField[],
  valueIn: ValueIn,
): ReturnType<ReadEnvelope> {
  const envelope = renderEnvelope(composition, fields, valueIn);
  const fault =
    checkPaths(composition, valueIn) ??
    checkFields(composition, envelope) ??
    checkSendTime(composition, envelope) ??
    checkKeypads(envelope) ??
    checkFiles(envelope) ??
    checkContent(composition, envelope);
  return fault ?? { kind: 'envelope', envelope };
}

function renderEnvelope(
  composition: Composition,
  fields: readonly ComposedField[],
  valueIn: ValueIn,
): Envelope {
  return {
    fields: renderFields(fields, valueIn),
    keypads: composition.keypads.map(({ tone, routeNumber }) => ({
      Tone: tone,
      RouteNumber: render(routeNumber, valueIn),
    })),
    files: composition.files.map((file) => renderFile(file, valueIn)),
    audio: renderFields(composition.audio, valueIn),
  };
}

function renderFields(fields: readonly ComposedField[], valueIn: ValueIn): MessageFields {
  const rendered: Record<string, string> = {};
  for (const { definition, template } of fields) {
    const escapeValue = definition.name === 'MessageHTML' ? (value: string) => escapeHtml(value) : undefined;
    const value = render(template, valueIn, escapeValue);
    if (value !== '') rendered[definition.name] = value;
  }
  return rendered;
}

function renderFile({ path: pathTemplate, name }: ComposedFile, valueIn: ValueIn): CampaignFile {
  const path = render(pathTemplate, valueIn);
  return { path, name: name === undefined ? nameOfPath(path) : render(name, valueIn) };
}

function checkPaths({ files, audio }: Composition, valueIn: ValueIn): Invalid | undefined {
  const paths: readonly (readonly [string, Template])[] = [
    ...files.map(({ path }, index) => [`files.${index}.file`, path] as const),
    ...audio.map(({ definition, template }) => [definition.name, template] as const),
  ];
  for (const [column, template] of paths) {
    const detail = pathValueError(template, valueIn);
    if (detail !== undefined) return invalid(column, detail);
  }
  return undefined;
}

function checkFields({ fields, audio, account }: Composition, envelope: Envelope): Invalid | undefined {
  for (const field of [...fields, ...audio]) {
    const { definition } = field;
    const value = envelope.fields[definition.name] ?? envelope.audio[definition.name];
    const detail = value === undefined ? undefined : valueError(account, definition, value);
    if (detail === undefined) continue;
    const isTimed = definition.type === 'time' || definition.type === 'zone';
    return isTimed ? invalidTime(field, detail) : invalid(definition.name, detail);
  }
  return undefined;
}

/** A valid time and a valid zone can be invalid together. */
function checkSendTime({ fields }: Composition, { fields: values }: Envelope): Invalid | undefined {
  const detail = sendTimeError(values);
  if (detail === undefined) return undefined;
  return fields
    .filter(({ definition }) => definition.name === 'SendTime')
    .map((field) => invalidTime(field, detail))[0];
}

/** Names the column if the time comes from one, because that is where to fix it. */
function invalidTime({ definition: { name }, template }: ComposedField, detail: string): Invalid {
  const [column = name, ...others] = columnsOf(template);
  return column === name || others.length > 0 ? invalid(name, detail) : invalid(column, `${name}: ${detail}`);
}

function checkKeypads({ keypads }: Envelope): Invalid | undefined {
  for (const { Tone, RouteNumber } of keypads) {
    const detail = lineError(RouteNumber);
    if (detail !== undefined) return invalid('Keypads', `button ${Tone}: ${detail}`);
  }
  return undefined;
}

function checkFiles({ files }: Envelope): Invalid | undefined {
  for (const [index, file] of files.entries()) {
    const path = lineError(file.path);
    if (path !== undefined) return invalid(`files.${index}.file`, path);
    const name = lineError(file.name);
    if (name !== undefined) return invalid(`files.${index}.name`, name);
  }
  return undefined;
}

export const emptyMessage = 'the message would be empty';

function checkContent({ contentFields }: Composition, { fields, audio }: Envelope): Invalid | undefined {
  const hasContent = contentFields.some((name) => !isBlank(fields[name] ?? audio[name]));
  return contentFields.length === 0 || hasContent
    ? undefined
    : invalid(contentFields.join(', '), emptyMessage);
}
