import { globSync } from 'node:fs';
import { checkSync } from 'recheck';
import { expect, test } from 'vitest';
import { isSyntaxNode, visitSyntax } from './support/source-syntax.ts';

/**
 * A message, an invoice or an answer of the service can bring any text. An expression whose work grows with the square
 * of its text then holds up the process for minutes.
 */

type Expression = { readonly source: string; readonly flags: string; readonly file: string };

const files = globSync('src/**/*.{ts,js}');

function findExpressions(): { readonly literals: Expression[]; readonly built: string[] } {
  const literals: Expression[] = [];
  const built = new Set<string>();
  for (const file of files) {
    visitSyntax(file, ({ type, regex, callee }) => {
      if (type === 'Literal' && isSyntaxNode(regex))
        literals.push({ source: String(regex['pattern']), flags: String(regex['flags']), file });
      if (type === 'NewExpression' && isSyntaxNode(callee) && callee['name'] === 'RegExp') built.add(file);
    });
  }
  return { literals, built: [...built].sort() };
}

const { literals, built } = findExpressions();

/** Without `*`, `+`, `{1,}` and repeated groups the work at each place of the text is limited. */
const isUnbounded = ({ source }: Expression): boolean =>
  /[*+]|\{\d+,\}|\)\{/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/g, ''));

/**
 * `recheck` proves by automata, and searches for an attack where an expression looks around itself. What it finds there
 * is tried: its attacks need 1.5 billion steps, more than a second, where the work is quadratic, and under a
 * millisecond where it is not.
 */
function verdictOf({ source, flags }: Expression): 'linear' | 'slow' | 'unknown' {
  const found = checkSync(source, flags, { timeout: 120_000 });
  if (found.status !== 'vulnerable') return found.status === 'safe' ? 'linear' : 'unknown';
  if (found.checker !== 'fuzz') return 'slow';
  const tries = [1, 2, 3].map(() => {
    const begun = performance.now();
    found.attack.string.search(new RegExp(source, flags));
    return performance.now() - begun;
  });
  return Math.min(...tries) > 300 ? 'slow' : 'linear';
}

/**
 * The alternatives of a whole expression. At each place of the text, each is tried once: where all are linear, so is the
 * whole, and the automaton of all together can be a hundred times as large as theirs.
 */
function alternativesOf({ source }: Expression): string[] {
  if (/\\[1-9k]/.test(source)) return [source];
  const alternatives = [''];
  let depth = 0;
  for (const [token] of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|./gs)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === '|' && depth === 0) alternatives.push('');
    else alternatives.push(`${alternatives.pop() ?? ''}${token}`);
  }
  return alternatives;
}

function isLinearInParts(expression: Expression): boolean {
  const parts = alternativesOf(expression).map((source) => ({ ...expression, source }));
  return parts.length > 1 && parts.filter(isUnbounded).every((each) => verdictOf(each) === 'linear');
}

/** Files whose expressions may be another one, and why. */
const accepted: Readonly<Record<string, string>> = {
  'src/wire/characters.ts': 'one class of characters, in a syntax that `recheck` does not know',
  'src/ledger/fingerprint.ts': "reads the source of Volley's own migrations only",
  'src/cli/usage-errors.ts': 'reads what the operator typed, at most 128 KiB',
};

test('the work of every regular expression grows with its text, not with the square of it', () => {
  expect(literals.length).toBeGreaterThan(300);
  const verdicts = new Map<string, string>();
  const asked = literals.filter((each) => isUnbounded(each) && !(each.file in accepted));
  expect(asked.length).toBeGreaterThan(150);
  const others = asked.flatMap((expression) => {
    const { source, flags, file } = expression;
    const written = `/${source}/${flags}`;
    const verdict = verdicts.get(written) ?? (isLinearInParts(expression) ? 'linear' : verdictOf(expression));
    verdicts.set(written, verdict);
    return verdict === 'linear' ? [] : [`${file}: ${written} is ${verdict}`];
  });
  expect(others).toEqual([]);
});

test('every file that puts an expression together was looked at: each is anchored, a class, or of bounded text', () => {
  expect(built).toEqual([
    'src/campaign/merge.ts',
    'src/contacts/phone-text.ts',
    'src/engine/access/sessions.ts',
    'src/engine/access/tokens.ts',
    'src/engine/plan/sms-parts.ts',
    'src/engine/plan/sms-rewriting.ts',
    'src/ledger/copy.ts',
    'src/platform/fast-phone-numbers.ts',
    'src/platform/mask-addresses.ts',
    'src/platform/server-user.ts',
    'src/report/html/preview-sms.ts',
    'src/wire/characters.ts',
    'src/wire/tts-return.ts',
  ]);
});
