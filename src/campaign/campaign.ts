import { channels, InputError, type InterfaceName, type MessageFields, type Problem } from '../domain.ts';
import { nearest, oneOf } from '../platform/nearest.ts';
import { readYaml, type YamlFile } from '../platform/yaml.ts';
import { type FieldDefinition, messageFields } from '../wire/fields.ts';
import { type Definition, definitionSchema } from './definition.ts';

/** A campaign file: its definition, and where each value stands in the file. */
export type Campaign = YamlFile<Definition>;

/** @throws InputError with every problem, each with file, line and column. */
export function readCampaign(source: string, file: string): Campaign {
  return readYaml(source, file, definitionSchema);
}

/**
 * The rules a schema cannot say: which fields the channel has in the interface, and what a message cannot do without.
 * Field lists and limits: interface.md, sections 2.1–2.7.
 *
 * @throws InputError with every problem.
 */
export function checkCampaign({ value: definition, locate }: Campaign, interfaceName: InterfaceName): void {
  const fields = messageFields(interfaceName, definition.channel);
  if (fields.length === 0) {
    throw new InputError([
      {
        where: locate(['channel']),
        what: `Interface ${interfaceName} of account "${definition.account}" has no channel "${definition.channel}"${insteadOf(interfaceName)}.`,
      },
    ]);
  }

  const problems: Problem[] = [];
  const message = messageOf(definition);
  for (const [field, value] of Object.entries(message)) {
    const known = fields.find(({ name }) => name === field);
    const what = known ? wrongConstant(known, value) : foreignField(field, definition, interfaceName);
    if (what) problems.push({ where: locate(['message', field]), what: `"message.${field}": ${what}` });
  }
  const content = contentFields(interfaceName, definition);
  if (content.length > 0 && content.every((field) => !message[field]?.trim())) {
    const files = definition.channel === 'fax' ? ' or "files"' : '';
    const what = `The ${definition.channel} has nothing to say; expected ${oneOf(content)}${files}.`;
    problems.push({ where: locate(['message']), what });
  }
  if (problems.length > 0) throw new InputError(problems);
}

/** The message fields that are set. */
export function messageOf(definition: Definition): MessageFields {
  const set: Record<string, string> = {};
  for (const [field, value] of Object.entries(definition.message)) {
    if (typeof value === 'string') set[field] = value;
  }
  return set;
}

/** Fields of which one must hold text (interface.md, 2.4–2.6); none where files are enough. */
export function contentFields(
  interfaceName: InterfaceName,
  { channel, files }: Pick<Definition, 'channel' | 'files'>,
): string[] {
  if (channel === 'fax' && files.length > 0) return [];
  return messageFields(interfaceName, channel)
    .filter(({ required }) => required !== 'no')
    .map(({ name }) => name);
}

/** What is wrong with a value as it would be sent; undefined when nothing is. Observed limits are not enforced. */
export function wrongValue(field: FieldDefinition, value: string): string | undefined {
  if (!multiLineFields.includes(field.name) && /[\r\n]/.test(value)) {
    return 'expected one line, got a line break in it.';
  }
  if (field.limit !== undefined && field.source === 'interface' && value.length > field.limit) {
    return `expected at most ${field.limit} characters, got ${value.length}.`;
  }
  if (field.type === 'boolean' && value !== 'true' && value !== 'false') {
    return `expected true or false, got "${value}".`;
  }
  if (field.type === 'integer' && !/^\d{1,9}$/.test(value)) {
    return `expected a whole number, got "${value}".`;
  }
  if (field.range && !withinRange(Number(value), field.range)) {
    return `expected a whole number from ${field.range.join(' to ')}, got ${value}.`;
  }
  if (field.values && !field.values.some((allowed) => allowed.toLowerCase() === value.toLowerCase())) {
    return `expected ${oneOf(field.values)}, got "${value}".`;
  }
  return undefined;
}

/** Text bodies; every other field is one line (a line break in a subject or a name would forge a mail header). */
const multiLineFields: readonly string[] = ['Message', 'MessagePlain', 'MessageHTML'];

/** A value with placeholders can only be told once they are filled. */
function wrongConstant(field: FieldDefinition, value: string): string | undefined {
  return value.includes('[[') ? undefined : wrongValue(field, value);
}

function foreignField(field: string, { channel }: Definition, interfaceName: InterfaceName): string {
  const names = messageFields(interfaceName, channel).map(({ name }) => name);
  return `not a field of ${channel} in ${interfaceName}.${nearest(field, names)} Its fields: ${names.join(', ')}.`;
}

function insteadOf(interfaceName: InterfaceName): string {
  const known = channels.filter((channel) => messageFields(interfaceName, channel).length > 0);
  return known.length === 0 ? '' : `; expected ${oneOf(known)}`;
}

function withinRange(value: number, [minimum, maximum]: readonly [number, number]): boolean {
  return value >= minimum && value <= maximum;
}
