import { posix } from 'node:path';
import type { Format, InterfaceName } from '../domain/message.ts';
import { isLoopbackHttp } from '../platform/address-list.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { isAllowed, isExtendable } from '../wire/allowed-values.ts';
import { firstUnsupportedCharacter } from '../wire/characters.ts';
import type { FieldDefinition } from '../wire/fields.ts';
import { isBlank } from '../wire/json.ts';
import { countCharacters, formError, isLongerThan, wireValueError } from '../wire/wire-values.ts';
import { hasPlaceholder } from './placeholders.ts';
import type { SendingAccount } from './sending-account.ts';

/** Errors in message values as sent; undefined: none. */

export function characterError(format: Format, text: string): string | undefined {
  // JSON can carry NUL, but PostgreSQL cannot store it in a text.
  if (text.includes('\0')) return 'contains a NUL character';
  const character = firstUnsupportedCharacter(format, text);
  if (character === undefined) return undefined;
  return /^U\+D[89A-F]/.test(character)
    ? `contains ${character}, half of a surrogate pair`
    : `contains ${character}, which XML cannot carry`;
}

/** Observed limits are not enforced. */
export function valueError(
  account: SendingAccount,
  field: FieldDefinition,
  value: string,
): string | undefined {
  return (
    (field.multiline ? undefined : lineBreakError(value)) ??
    lengthError(field, value) ??
    wireValueError(account.interface, field, value) ??
    formError(field, value) ??
    (field.type === 'url' ? urlError(account, value) : undefined) ??
    notAllowedError(account, field, value)
  );
}

/** A line break in a subject, name or address would forge a mail header. */
export function lineBreakError(value: string): string | undefined {
  return /[\r\n]/.test(value) ? 'expected one line, got a line break in it.' : undefined;
}

export function lineError(value: string): string | undefined {
  return isBlank(value) ? 'expected a text, got nothing.' : lineBreakError(value);
}

/**
 * Why a path with placeholders cannot be in the campaign's folder. A path without placeholders is checked with its
 * file.
 */
export function pathError(source: string): string | undefined {
  const outside = hasPlaceholder(source) && (posix.isAbsolute(source) || source.split('/').includes('..'));
  if (outside) return `expected a path inside the campaign's folder, got "${source}".`;
  if (!hasPlaceholder(source) || rowFolderOf(source) !== undefined) return undefined;
  return `a placeholder needs a folder before it, such as attachments/${source}: otherwise a contact row could name any file of the campaign's folder.`;
}

/**
 * The folder before the first placeholder of a path: a contact's row can name its files.
 *
 * @returns without a trailing slash; undefined if there is no placeholder or no such folder
 */
export function rowFolderOf(source: string): string | undefined {
  const [before = '', ...after] = source.split('[[');
  if (after.length === 0 || !before.includes('/')) return undefined;
  const folder = posix.normalize(posix.dirname(`${before}x`));
  return folder === '.' || posix.isAbsolute(folder) || folder.split('/').includes('..') ? undefined : folder;
}

function lengthError({ limit, source }: FieldDefinition, value: string): string | undefined {
  if (limit === undefined || source === 'observed' || !isLongerThan(value, limit)) return undefined;
  return `expected at most ${limit} characters, got ${countCharacters(value)}.`;
}

/** Observed values and ranges can differ at this account's service; its operator can allow more. */
function notAllowedError(
  { interface: interfaceName, allow }: SendingAccount,
  field: FieldDefinition,
  value: string,
): string | undefined {
  const wrong = rangeError(field, value) ?? choiceError(interfaceName, field, value);
  if (wrong === undefined || !isExtendable(field)) return wrong;
  if (isAllowed(allow, field, value)) return undefined;
  return `${wrong} If your service accepts it, allow it in the account: allow: { ${field.name}: [${value}] }.`;
}

function rangeError({ range }: FieldDefinition, value: string): string | undefined {
  if (!range) return undefined;
  const [minimum, maximum] = range;
  if (Number(value) >= minimum && Number(value) <= maximum) return undefined;
  return `expected a whole number from ${minimum} to ${maximum}, got ${value}.`;
}

function choiceError(
  interfaceName: InterfaceName,
  { name, values }: FieldDefinition,
  value: string,
): string | undefined {
  if (!values || values.some((allowed) => allowed.toLowerCase() === value.toLowerCase())) return undefined;
  if (values.length === 0) return `${interfaceName} is not known to take ${name}, got "${value}".`;
  return `expected ${oneOf(values)}, got "${value}".${didYouMean(value, values)}`;
}

/** interface.md, 2.1. A sandbox on this machine can report only to a local http address. */
function urlError({ loopback }: SendingAccount, value: string): string | undefined {
  const https = value.startsWith('https://') && URL.canParse(value);
  const isAccepted = !/\s/.test(value) && (https || (loopback && isLoopbackHttp(value)));
  return isAccepted ? undefined : `expected a full address that begins with https://, got "${value}".`;
}
