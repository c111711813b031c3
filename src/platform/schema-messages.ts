import { z } from 'zod';
import { didYouMean, oneOf } from './suggestions.ts';

/**
 * Replaces the library's messages, which are for programmers. "expected" comes first, so that the actual value
 * can follow.
 */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${oneOf(issue.values.map(String))}${suggestionFor(issue.input, issue.values.map(String))}`;
    case 'too_small':
      return `expected at least ${formatAmount(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `expected at most ${formatAmount(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return formatMessages[issue.format] ?? 'expected it in another form';
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `unknown key ${issue.keys.map((key) => `"${key}"`).join(', ')}; remove it`;
    case 'invalid_key':
      return 'expected another name for this key';
    default:
      return 'expected another value';
  }
}

// Applies to all schemas of the process.
z.config({ customError: describeIssue });

const suggestionMark = '. Did you mean ';

function suggestionFor(input: unknown, known: readonly string[]): string {
  return typeof input === 'string' ? didYouMean(input, known).replace(/^ Did you mean /, suggestionMark) : '';
}

/** Splits "expected …" from " Did you mean …?", so that the actual value fits between. */
export function splitSuggestion(message: string): readonly [string, string] {
  const at = message.lastIndexOf(suggestionMark);
  return at < 0 ? [message, ''] : [message.slice(0, at), message.slice(at + 1)];
}

/** " Did you mean …?" of the issue or one of its alternatives, or nothing. */
export function suggestionOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom') {
    const hint: unknown = issue.params?.['hint'];
    return typeof hint === 'string' ? hint : '';
  }
  if (issue.code !== 'invalid_union') return '';
  return (
    issue.errors
      .flat()
      .map(suggestionOf)
      .find((hint) => hint !== '') ?? ''
  );
}

/**
 * A text from a set too large to list; suggests a similar one.
 *
 * @param expected begins with "expected"
 * @param hint " Did you mean …?", or nothing
 */
export function knownText(
  isKnown: (written: string) => boolean,
  expected: string,
  hint: (written: string) => string,
) {
  return z.string().superRefine((written, context) => {
    if (isKnown(written)) return;
    context.addIssue({ code: 'custom', message: expected, params: { hint: hint(written) } });
  });
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'keys with values',
  record: 'keys with values',
  array: 'a list',
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  date: 'a time',
};

const formatMessages: Readonly<Record<string, string>> = {
  email: 'expected an e-mail address',
  url: 'expected a full address such as https://service.example',
  datetime: 'expected a time in UTC such as 2026-11-21T08:00:00Z',
  date: 'expected a date such as 2026-11-01',
  ipv4: 'expected an IP address',
  ipv6: 'expected an IP address',
};

function formatAmount(origin: string, bound: number | bigint): string {
  const one = bound === 1 || bound === 1n;
  if (origin === 'string') return one ? 'one character' : `${bound} characters`;
  if (origin === 'array' || origin === 'set')
    return one ? 'one item in the list' : `${bound} items in the list`;
  if (origin === 'object' || origin === 'map') return one ? 'one key' : `${bound} keys`;
  return String(bound);
}
