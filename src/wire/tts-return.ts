/**
 * The form of `ttsReturn` that an account teaches: interface.md shows none (4.3). The pattern comes from the accounts
 * file and the text from the service, so the work of any pattern on any text is bounded.
 */

export type TtsReturnForm = {
  /** Matches a whole text that says that the message is accepted. */
  readonly pattern: RegExp;
  /** The group with the job number, from 1. */
  readonly number: number;
};

export const maxPatternLength = 200;
/** The most of `*`, `+`, `?`, `{…}` and `|` in a pattern. With them, 100 characters take at most some million steps. */
const maxChoices = 4;
const maxTextLength = 100;

/** @returns undefined, or in a sentence why the pattern cannot be used */
export function ttsReturnProblem(pattern: string, number: number): string | undefined {
  const choices = countChoices(pattern);
  if (typeof choices === 'string') return choices;
  if (choices > maxChoices)
    return `The pattern has ${choices} of * + ? { and |; ${maxChoices} are allowed, so that no answer takes long to read.`;
  const groups = countGroups(pattern);
  if (groups === undefined) return 'The pattern is no regular expression.';
  if (number > groups)
    return `The pattern has ${groups} groups, so group ${number} cannot be the number. Put the number into ( ).`;
  return undefined;
}

/** Outside classes; or why the pattern could take exponentially many steps. */
function countChoices(pattern: string): number | string {
  let choices = 0;
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    const next = pattern[at + 1] ?? '';
    if (character === '\\') {
      if (!isInClass && /[1-9k]/.test(next)) return 'The pattern refers to a group. Leave that out.';
      at++;
    } else if (isInClass) {
      if (character === ']') isInClass = false;
    } else if (character === '[') {
      isInClass = true;
    } else if (character === '(' && next === '?') {
      if (pattern[at + 2] !== ':')
        return 'The pattern looks around, or names a group. Use ( ) and (?: ) only.';
      at += 2;
    } else if (character === ')' && /[*+{]/.test(next)) {
      return 'The pattern repeats a group. Repeat single characters or classes only.';
    } else if (/[*+?{|]/.test(character)) {
      choices++;
    }
  }
  return choices;
}

function countGroups(pattern: string): number | undefined {
  try {
    // With an empty alternative it matches the empty text.
    return (new RegExp(`${pattern}|`, 'iu').exec('')?.length ?? 1) - 1;
  } catch {
    return undefined;
  }
}

/** @throws SyntaxError for a pattern with a problem */
export function toTtsReturnForm(pattern: string, number: number): TtsReturnForm {
  return { pattern: new RegExp(`^(?:${pattern})$`, 'iu'), number };
}

/** @returns undefined if the text has another form, or no job number where it should be */
export function readTaughtJobNumber(text: string, { pattern, number }: TtsReturnForm): string | undefined {
  const trimmed = text.trim();
  const found = trimmed.length > maxTextLength ? undefined : pattern.exec(trimmed)?.[number];
  return found !== undefined && /^(?=[A-Z]*\d)[0-9A-Z]{1,40}$/i.test(found) ? found : undefined;
}
