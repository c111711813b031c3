import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nextStepPart } from '../../../src/dashboard/parts/next-step.ts';
import { nextStep, nextStepText } from '../../../src/domain/next-step.ts';

const viewer = { zone: 'UTC', mayRun: true, mayApprove: true, mayAdmin: true };
const reader = { ...viewer, mayRun: false, mayApprove: false, mayAdmin: false };
const run = '261123-abcde';
const textOf = (parts: readonly { readonly text: string }[]): string =>
  parts.map(({ text }) => text).join('');

test('a next step names the command on the command line, and is a link on a page', () => {
  const next = nextStep`See ${{ kind: 'list reports', state: 'failed' }}, then ${{ kind: 'replay reports' }}.`;
  expect(nextStepText(next)).toBe(
    'See `volley delivery-reports list --state failed`, then `volley delivery-reports replay`.',
  );
  expect(textOf(nextStepPart(next, viewer))).toBe(
    'See <a href="/delivery-reports/list?state=failed">the failed ones</a>, then <a href="/delivery-reports/replay">replay them</a>.',
  );
});

test('a step that the person may not take is no link', () => {
  const next = nextStep`See ${{ kind: 'status', run }}, then ${{ kind: 'approve', run }}, or ${{ kind: 'cancel', run }}.`;
  expect(textOf(nextStepPart(next, reader))).toBe(
    `See <a href="/runs/${run}">run ${run}</a>, then approve it, or cancel it.`,
  );
});

test('what no page does stays a command to type, and a name stays a text', () => {
  const next = nextStep`Start \`volley serve\`. Correct ${{ kind: 'check campaign', file: '"><b>.yaml' }}.`;
  expect(textOf(nextStepPart(next, viewer, 'button'))).toBe(
    'Start <code>volley serve</code>. Correct <a href="/campaigns/%22%3E%3Cb%3E.yaml" class="button">its page</a>.',
  );
});

test('no check names a command that a page has, except as a step', () => {
  for (const file of ['work', 'schedules', 'delivery-reports', 'ledger', 'database']) {
    const source = readFileSync(new URL(`../../../src/engine/doctor/${file}.ts`, import.meta.url), 'utf8');
    const named = /\bvolley (status|approve|cancel|resolve|run|runs|schedule|delivery-reports|account)\b/;
    expect([file, named.exec(source)?.[0]]).toEqual([file, undefined]);
  }
});
