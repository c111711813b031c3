import { expect, test } from 'vitest';
import { rejectionDetail, requestReason, runReason } from '../../src/ledger/reasons.ts';

test.each([
  [requestReason, null],
  [requestReason, 'No credit'],
  [requestReason, { kind: 'resent', state: 'failed', words: { kind: 'withheld', because: 'files_unread' } }],
  [runReason, { kind: 'waits_for_approval', why: { kind: 'many_recipients', recipients: 7, limit: 5 } }],
  [rejectionDetail, { kind: 'same_contact', key: ['id'], file: null, line: 2, differs: false }],
])('a known reason is returned as it is stored', (decode, stored) => {
  expect(decode(stored)).toEqual(stored);
});

test.each([
  ['of an unknown kind', requestReason, { kind: 'eclipse' }],
  ['of a kind for other things', requestReason, { kind: 'interrupted' }],
  ['that lacks a value', requestReason, { kind: 'job_number' }],
  ['with a value of another type', runReason, { kind: 'all_rejected', requests: '10' }],
  ['with a word outside its closed list', requestReason, { kind: 'withheld', because: 'eclipse' }],
  ['with a nested reason of an unknown kind', runReason, { kind: 'ledger_held', hold: { kind: 'eclipse' } }],
  ['that has no kind', requestReason, ['job']],
  ['that is null where one is required', rejectionDetail, null],
])('a reason %s is rejected, and the error shows it', (_, decode, stored) => {
  expect(() => decode(stored)).toThrow(
    `The ledger contains a reason that this version of Volley does not know: ${JSON.stringify(stored)}`,
  );
});
