import { destinationFields, type InterfaceName } from '../domain/message.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { readYaml, type YamlFile } from '../platform/yaml.ts';
import { isAllowed } from '../wire/allowed-values.ts';
import { channelsOf, type FieldDefinition, messageFields } from '../wire/fields.ts';
import { isBlank } from '../wire/json.ts';
import {
  destinationFieldsOf,
  supportsFiles,
  supportsKeypads,
  unsupportedDestinationFields,
} from '../wire/message-parts.ts';
import { type Definition, definitionSchema } from './definition.ts';
import { fieldNameOf, keysOf } from './message-keys.ts';
import { hasPlaceholder } from './placeholders.ts';
import { pastTimesWarning } from './schedule.ts';
import type { SendingAccount } from './sending-account.ts';
import { characterError, lineError, pathError, valueError } from './value-checks.ts';
import { variantFaults } from './variant-faults.ts';
import { sentVariants } from './variants.ts';
import { type ReportedAccount, watchWarnings } from './watch-warnings.ts';
import { windowFaults } from './window-faults.ts';

export type Campaign = YamlFile<Definition>;

type SetField = {
  readonly definition: FieldDefinition;
  readonly key: string;
  readonly source: string;
};

type Fault = { readonly path: readonly (string | number)[]; readonly what: string };

/** A usual campaign has dozens of keys; keypads, files and address lists can add many. */
const maxKeys = 10_000;

export function readCampaign(source: string, file: string): Campaign {
  return readYaml(source, file, definitionSchema, maxKeys);
}

/**
 * Checks what a schema cannot: the channel's fields in the interface, the characters of its format, and the content
 * that a message must have (interface.md, 2.1–2.10).
 *
 * @throws InputError with every problem
 */
export function checkCampaign(campaign: Campaign, account: SendingAccount): void {
  const located = (faults: readonly Fault[], { locate }: Campaign) =>
    faults.map(({ path, what }): Problem => ({ where: locate(path), what }));
  const problems = [
    ...located(variantFaults(campaign.value), campaign),
    ...sentVariants(campaign).flatMap((each) =>
      located(faultsOf(each.campaign.value, account), each.campaign),
    ),
  ];
  // What variants have in common is checked with each.
  const distinct = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  if (distinct.size > 0) throw new InputError([...distinct.values()]);
}

function faultsOf(definition: Definition, account: SendingAccount): Fault[] {
  const known = channelsOf(account.interface);
  if (!known.includes(definition.channel)) {
    const what = `Interface ${account.interface} of account "${definition.account}" has no channel "${definition.channel}"; expected ${oneOf(known)}.`;
    return [{ path: ['channel'], what }];
  }
  return [
    ...columnFaults(definition, account),
    ...messageFaults(definition, account),
    ...contentFaults(definition, account),
    ...expectedFaults(definition, account),
    ...keypadFaults(definition, account),
    ...fileFaults(definition, account),
    ...windowFaults(definition, account),
  ];
}

/** What is valid and probably a mistake. Sentences without a full stop. */
export function campaignWarnings(
  { value, locate }: Campaign,
  account: ReportedAccount,
  now: Date,
): Problem[] {
  const past = value.schedule && pastTimesWarning(value.schedule, now);
  return [
    ...(past === undefined ? [] : [{ where: locate(['schedule', 'at']), what: past }]),
    ...watchWarnings(value, account, now).map(({ path, what }) => ({ where: locate(path), what })),
  ];
}

export function fieldsOf({ channel, message }: Definition, interfaceName: InterfaceName): SetField[] {
  const written = textValuesOf(message);
  return messageFields(interfaceName, channel).flatMap((definition): SetField[] => {
    const key = keysOf(interfaceName, definition).find((candidate) => written.has(candidate));
    const source = key === undefined ? undefined : written.get(key);
    return key === undefined || source === undefined ? [] : [{ definition, key, source }];
  });
}

/** Fields of which one must hold text (interface.md, 2.4–2.7 and 2.10); none if files are enough. */
export function contentFields(
  interfaceName: InterfaceName,
  { channel, files }: Pick<Definition, 'channel' | 'files'>,
): string[] {
  if (channel === 'fax' && files.length > 0) return [];
  return messageFields(interfaceName, channel)
    .filter(({ required }) => required !== 'no')
    .map(({ name }) => name);
}

function textValuesOf(message: Definition['message']): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(message).flatMap(([key, value]): [string, string][] =>
      typeof value === 'string' ? [[key, value]] : [],
    ),
  );
}

function columnFaults({ contacts: { columns = {} } }: Definition, account: SendingAccount): Fault[] {
  const known = destinationFieldsOf(account.interface);
  const unsupported = unsupportedDestinationFields(account.interface);
  return destinationFields.flatMap((field): Fault[] => {
    const source = columns[field];
    if (source === undefined) return [];
    const path = ['contacts', 'columns', field];
    if (unsupported.includes(field)) {
      const what = `not a destination field of ${account.interface}. Its fields: ${known.join(', ')}.`;
      return faultAt(path, what);
    }
    return typeof source === 'string'
      ? faultAt(
          path,
          sourceError(account, source, () => undefined),
        )
      : faultAt([...path, 'value'], sourceError(account, source.value, lineError));
  });
}

function messageFaults(definition: Definition, account: SendingAccount): Fault[] {
  const written = textValuesOf(definition.message);
  const known = messageFields(account.interface, definition.channel);
  return [...written].flatMap(([key, source]) => {
    const field = known.find((candidate) => keysOf(account.interface, candidate).includes(key));
    const what =
      field === undefined
        ? unknownKeyError(key, definition, account)
        : (duplicateKeyError(key, field, written) ??
          sourceError(account, source, (value) => valueError(account, field, value)) ??
          (field.type === 'audio' ? pathError(source) : undefined));
    return faultAt(['message', key], what);
  });
}

function duplicateKeyError(
  key: string,
  { name }: FieldDefinition,
  written: ReadonlyMap<string, string>,
): string | undefined {
  return key !== name && written.has(name)
    ? `the same field as "message.${name}"; set one of the two.`
    : undefined;
}

function contentFaults(definition: Definition, account: SendingAccount): Fault[] {
  const names = contentFields(account.interface, definition);
  const hasContent = fieldsOf(definition, account.interface).some(
    ({ definition: { name }, source }) => names.includes(name) && !isBlank(source),
  );
  if (names.length === 0 || hasContent) return [];
  const files = definition.channel === 'fax' ? ' or "files"' : '';
  const what = `The ${definition.channel} has no content; expected ${oneOf(names)}${files}.`;
  return [{ path: ['message'], what }];
}

function expectedFaults(definition: Definition, account: SendingAccount): Fault[] {
  const written = new Set(
    fieldsOf(definition, account.interface).flatMap(({ definition: { name }, source }) =>
      isBlank(source) ? [] : [name],
    ),
  );
  return messageFields(account.interface, definition.channel)
    .filter((field) => field.expected && !written.has(field.name) && !isAllowed(account.allow, field, ''))
    .map(({ name }) => ({
      path: ['message'],
      what: `The ${definition.channel} has no ${name}. If your service accepts it without, allow it in the account: allow: { ${name}: [""] }.`,
    }));
}

function keypadFaults(definition: Definition, account: SendingAccount): Fault[] {
  const { Keypads: keypads } = definition.message;
  if (keypads === undefined) return [];
  if (!supportsKeypads(account.interface, definition.channel)) {
    return faultAt(['message', 'Keypads'], unknownKeyError('Keypads', definition, account));
  }
  return keypads.flatMap(({ RouteNumber }, index) =>
    faultAt(['message', 'Keypads', index, 'RouteNumber'], sourceError(account, RouteNumber, lineError)),
  );
}

function fileFaults({ channel, files }: Definition, account: SendingAccount): Fault[] {
  if (files.length > 0 && !supportsFiles(account.interface, channel)) {
    return faultAt(['files'], `${channel} in ${account.interface} has no files.`);
  }
  return files.flatMap(({ file, name }, index) => [
    ...faultAt(['files', index, 'file'], sourceError(account, file, lineError) ?? pathError(file)),
    ...(name === undefined ? [] : faultAt(['files', index, 'name'], sourceError(account, name, lineError))),
  ]);
}

/** Characters are always checked; the whole value only if it has no placeholders. */
function sourceError(
  { format }: SendingAccount,
  source: string,
  checkValue: (value: string) => string | undefined,
): string | undefined {
  const character = characterError(format, source);
  if (character !== undefined) return `${character}.`;
  return hasPlaceholder(source) ? undefined : checkValue(source);
}

function faultAt(path: readonly (string | number)[], what: string | undefined): Fault[] {
  return what === undefined ? [] : [{ path, what: `"${path.join('.')}": ${what}` }];
}

function unknownKeyError(key: string, { channel }: Definition, account: SendingAccount): string {
  const names = [
    ...messageFields(account.interface, channel).map(({ name }) => name),
    ...(supportsKeypads(account.interface, channel) ? ['Keypads'] : []),
  ];
  const name = fieldNameOf(key);
  const hint =
    name !== undefined && names.includes(name)
      ? ` In this interface it is "${name}".`
      : didYouMean(key, names);
  return `not a field of ${channel} in ${account.interface}.${hint} Its fields: ${names.join(', ')}.`;
}
