import stringWidth from 'string-width';
import type { Check, CheckState } from '../domain/doctor.ts';
import { nextStepText } from '../domain/next-step.ts';
import { printable } from './printable.ts';
import { plainScreen, type Screen, styled, type Tone } from './screen.ts';
import { localizeTimes } from './time.ts';

const tones: Readonly<Record<CheckState, Tone | undefined>> = {
  ok: 'good',
  'not checked': undefined,
  warning: 'doubtful',
  problem: 'bad',
};

/** In characters, with the space to the next column. */
const stateWidth = 'not checked'.length + 2;
const minNameWidth = 'requests in doubt'.length + 2;

/** Longer names have a line of their own. */
const maxNameShare = 0.28;

/** Narrower terminals break the lines themselves. */
const minTextWidth = 30;

/** On a terminal, texts are wrapped below each other. Elsewhere each check is one line. */
export function formatChecks(checks: readonly Check[], screen: Screen = plainScreen): string {
  const { width } = screen;
  const joined = joinUnchecked(checks);
  if (width === undefined) return joined.map((check) => formatLine(check, screen)).join('\n');
  const longest = Math.max(minNameWidth, ...joined.map(({ name }) => stringWidth(printable(name)) + 2));
  const nameWidth = Math.max(minNameWidth, Math.min(longest, Math.floor(width * maxNameShare)));
  return joined.map((check) => formatLines(check, { width, nameWidth }, screen)).join('\n');
}

/** `2 problems, 1 warning, 20 ok, 3 not checked` */
export function formatCheckCounts(checks: readonly Check[]): string {
  const counts = (['problem', 'warning', 'ok', 'not checked'] as const).flatMap((state) => {
    const number = checks.filter((check) => check.state === state).length;
    const plural = number > 1 && (state === 'problem' || state === 'warning') ? 's' : '';
    return number === 0 ? [] : [`${number} ${state}${plural}`];
  });
  return counts.join(', ');
}

/** Neighbours that were not checked for the same reason become one. */
function joinUnchecked(checks: readonly Check[]): Check[] {
  const joined: { check: Check; number: number }[] = [];
  for (const check of checks) {
    const last = joined.at(-1);
    const isSame = last?.check.state === 'not checked' && last.check.found === check.found;
    if (last && isSame && check.state === 'not checked') last.number++;
    else joined.push({ check, number: 1 });
  }
  return joined.map(({ check, number }) => (number === 1 ? check : { ...check, name: `${number} checks` }));
}

function formatLine({ state, name, found, nextStep }: Check, screen: Screen): string {
  const next = nextStep === null ? '' : ` Next: ${text(nextStepText(nextStep), screen)}`;
  return `${styledState(state, screen)}${printable(name)}: ${text(found, screen)}${next}`;
}

type Widths = { readonly width: number; readonly nameWidth: number };

function formatLines(
  { state, name, found, nextStep }: Check,
  { width, nameWidth }: Widths,
  screen: Screen,
): string {
  const indent = stateWidth + nameWidth;
  const shownName = printable(name);
  const head = styledState(state, screen) + styled(shownName, 'title', screen);
  const lines = wrap(text(found, screen), width - indent).map((line) => ' '.repeat(indent) + line);
  const [first = '', ...others] = lines;
  const gap = indent - stateWidth - stringWidth(shownName);
  const body = gap >= 2 ? [head + ' '.repeat(gap) + first.trimStart(), ...others] : [head, ...lines];
  const nextLines =
    nextStep === null ? [] : wrap(`Next: ${text(nextStepText(nextStep), screen)}`, width - stateWidth);
  return [...body, ...nextLines.map((line) => ' '.repeat(stateWidth) + line)].join('\n');
}

function styledState(state: CheckState, screen: Screen): string {
  return styled(state, tones[state], screen) + ' '.repeat(stateWidth - state.length);
}

const text = (words: string, screen: Screen): string => printable(localizeTimes(screen, words));

/** Keeps a command in backticks on one line, if it fits. */
function wrap(words: string, width: number): string[] {
  const room = Math.max(width, minTextWidth);
  const pieces = (words.match(/[^\s`]*`[^`]*`[^\s`]*|\S+/g) ?? []).flatMap((piece) =>
    stringWidth(piece) <= room ? [piece] : piece.split(' '),
  );
  const lines: string[] = [];
  for (const piece of pieces) {
    const longer = lines.length === 0 ? piece : `${lines.at(-1)} ${piece}`;
    if (lines.length > 0 && stringWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(piece);
  }
  return lines;
}
