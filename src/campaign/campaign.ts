import { InputError, type InterfaceName, type MessageFields, type Problem } from '../domain.ts';
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
        what: `Interface ${interfaceName} of account "${definition.account}" has no channel "${definition.channel}".`,
      },
    ]);
  }

  const problems: Problem[] = [];
  for (const [field, value] of Object.entries(messageOf(definition))) {
    const known = fields.find(({ name }) => name === field);
    const what = known
      ? wrongValue(known, value)
      : `"message.${field}" is not a field of ${definition.channel} in ${interfaceName}. Its fields: ${fields.map(({ name }) => name).join(', ')}.`;
    if (what) problems.push({ where: locate(['message', field]), what });
  }
  const missing = missingContent(definition);
  if (missing) problems.push({ where: locate(['message']), what: missing });
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

/** What is wrong with a value, as far as it can be said before placeholders are filled; undefined when nothing is. */
export function wrongValue(field: FieldDefinition, value: string): string | undefined {
  if (value.includes('[[')) return undefined;
  if (field.type === 'boolean' && value !== 'true' && value !== 'false') {
    return `"message.${field.name}": expected true or false, got "${value}".`;
  }
  if (field.type === 'integer' && !/^\d{1,9}$/.test(value)) {
    return `"message.${field.name}": expected a whole number, got "${value}".`;
  }
  if (field.range && !withinRange(Number(value), field.range)) {
    return `"message.${field.name}": expected a whole number from ${field.range.join(' to ')}, got ${value}.`;
  }
  if (field.values && !field.values.some((allowed) => allowed.toLowerCase() === value.toLowerCase())) {
    return `"message.${field.name}": expected ${field.values.join(' or ')}, got "${value}".`;
  }
  return undefined;
}

function withinRange(value: number, [minimum, maximum]: readonly [number, number]): boolean {
  return value >= minimum && value <= maximum;
}

function missingContent({ channel, message, files }: Definition): string | undefined {
  if (channel === 'sms' && !message['Message']) return 'An SMS needs "Message".';
  if (channel === 'email' && !message['MessagePlain'] && !message['MessageHTML'] && !message['Template']) {
    return 'An email needs "MessagePlain", "MessageHTML" or "Template".';
  }
  if (channel === 'fax' && !message['Message'] && files.length === 0) {
    return 'A fax needs "files" or "Message".';
  }
  return undefined;
}
