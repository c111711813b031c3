import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import type { Check } from '../../src/domain/doctor.ts';
import { formatCheckCounts, formatChecks } from '../../src/report/doctor.ts';

const unasked = { state: 'not checked', found: 'The database cannot be used.', nextStep: null } as const;
const checks: readonly Check[] = [
  { name: 'node', state: 'ok', found: 'v24.1.0; Volley needs 22.19 or later.', nextStep: null },
  { name: 'rights', ...unasked },
  { name: 'ledger', ...unasked },
  {
    name: 'service https://messages.service.example:8443',
    state: 'problem',
    found: 'It cannot be reached: TLS failed: its certificate has expired (CERT_HAS_EXPIRED).',
    nextStep:
      'Its operator must renew the certificate; `volley delivery-reports missing --older-than 1d` lists what is missing.',
  },
];

test('on a terminal of 80 columns, texts are below each other, and a command is not divided', () => {
  const text = formatChecks(checks, { width: 80, colour: false });
  expect(text).toBe(
    `
ok           node                  v24.1.0; Volley needs 22.19 or later.
not checked  2 checks              The database cannot be used.
problem      service https://messages.service.example:8443
                                   It cannot be reached: TLS failed: its
                                   certificate has expired (CERT_HAS_EXPIRED).
             Next: Its operator must renew the certificate;
             \`volley delivery-reports missing --older-than 1d\` lists what is
             missing.`.trimStart(),
  );
});

test.each([80, 160])('no line is longer than a terminal of %d columns', (width) => {
  for (const line of formatChecks(checks, { width, colour: false }).split('\n'))
    expect(stringWidth(line)).toBeLessThanOrEqual(width);
});

test('in a pipe, each check is one line with its next step, and control characters are shown by their codes', () => {
  const check = { name: 'a', state: 'warning', found: 'b\u001b[31m\n', nextStep: 'c' } as const;
  expect(formatChecks([check])).toBe('warning      a: b\\x1b[31m\\x0a Next: c');
});

test('colours repeat the state, which is also a word', () => {
  const text = formatChecks(checks.slice(0, 1), { width: 80, colour: true });
  expect(text).toContain('\u001b[32mok\u001b[39m           \u001b[1mnode\u001b[22m');
});

test('the counts name every state that occurs, problems first', () => {
  expect(formatCheckCounts([...checks, ...checks.slice(3)])).toBe('2 problems, 1 ok, 2 not checked');
});
