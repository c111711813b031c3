import { expect, test } from 'vitest';
import { leftOutReason, requestReason, runReason } from '../../src/ledger/reasons.ts';

test.each([
  [requestReason, null],
  [requestReason, 'No credit'],
  [requestReason, { kind: 'resent', state: 'failed', words: { kind: 'withheld', because: 'files_unread' } }],
  [runReason, { kind: 'waits_for_approval', why: { kind: 'many_recipients', recipients: 7, limit: 5 } }],
  [leftOutReason, { kind: 'same_contact', key: ['id'], file: null, line: 2, differs: false }],
])('a reason that is known is read as it stands', (decode, stored) => {
  expect(decode(stored)).toEqual(stored);
});

test.each([
  ['of an unknown kind', requestReason, { kind: 'eclipse' }],
  ['of a kind of something else', requestReason, { kind: 'interrupted' }],
  ['that lacks a value', requestReason, { kind: 'job_number' }],
  ['with a value of another type', runReason, { kind: 'all_rejected', requests: '10' }],
  ['with a word that is not in its list', requestReason, { kind: 'withheld', because: 'eclipse' }],
  ['in which one is of an unknown kind', runReason, { kind: 'ledger_held', hold: { kind: 'eclipse' } }],
  ['that has no kind', requestReason, ['job']],
  ['that is missing where there has to be one', leftOutReason, null],
])('a reason %s is refused, and shown', (_, decode, stored) => {
  expect(() => decode(stored)).toThrow(
    `The ledger holds a reason that this version of Volley does not know: ${JSON.stringify(stored)}`,
  );
});
