import { expect, test } from 'vitest';
import { formatReason, type Reason } from '../../src/domain/reasons.ts';

/** The compiler finds a kind without words; here are the kinds whose words depend on their values. */
const worded: readonly (readonly [Exclude<Reason, string>, string])[] = [
  [
    { kind: 'resent', state: 'rejected', words: 'No credit' },
    'sent again and rejected, but it may have arrived before: No credit',
  ],
  [{ kind: 'resent', state: 'failed', words: null }, 'sent again and failed, but it may have arrived before'],
  [{ kind: 'withheld', because: 'window_shut' }, 'not sent, because its window had closed'],
  [{ kind: 'resolved', resolution: 'resend', by: 'ann', words: 'seen' }, 'to be sent again by ann: seen'],
  [
    { kind: 'waits_for_approval', why: { kind: 'every_run' } },
    'waits for approval: every run of the campaign',
  ],
  [
    { kind: 'too_many_rejected', rejected: 8, requests: 100, share: 0.07 },
    'the service rejected 8 of 100 requests, more than 7% (failFast)',
  ],
  [
    { kind: 'too_many_rejected', rejected: 13, requests: 100, share: 0.125 },
    'the service rejected 13 of 100 requests, more than 12.5% (failFast)',
  ],
  [
    { kind: 'canary_stopped', what: 'undelivered', recipients: 52, of: 400, limit: 0.1 },
    'of its canary, 52 of 400 recipients are undelivered, more than 10%',
  ],
  [
    {
      kind: 'guard_undelivered',
      destination: '+61412',
      recipients: 52,
      of: 400,
      basis: 'campaign',
      usual: 0.0211,
      limit: 0.0543,
      errorRate: 0.01,
    },
    '52 of 400 recipients at +61412 are undelivered (13%), and 2.1% in the former runs of the campaign; the guard allows 5.4% (CUSUM, error rate 1%)',
  ],
  [
    {
      kind: 'guard_undelivered',
      destination: null,
      recipients: 52,
      of: 400,
      basis: 'limit',
      usual: null,
      limit: 0.05,
      errorRate: 0.01,
    },
    '52 of 400 recipients are undelivered (13%); the guard allows 5% (CUSUM, error rate 1%)',
  ],
  [
    { kind: 'guard_silent', milliseconds: 1_200_000, recipients: 412 },
    'no delivery report has come for 20m, although 412 recipients were accepted before (guard)',
  ],
  [
    { kind: 'guard_price', recipients: 12, of: 100, limit: 0.01, errorRate: 0.01 },
    'the prices of 12 recipients, of 100 sent ones, are far from the rate card; the guard allows 1% (sequential test, error rate 1%)',
  ],
  [
    { kind: 'guard_rejected', requests: 9, of: 60, limit: 0.02, errorRate: 0.01 },
    'the service rejected 9 of 60 requests; the guard allows 2% (sequential test, error rate 1%)',
  ],
  [
    { kind: 'service_refuses', account: 'main', milliseconds: 3_600_000, words: 'HTTP 503' },
    'the service has refused every request of account "main" for 1h: HTTP 503',
  ],
  [
    { kind: 'ledger_held', hold: { kind: 'being_restored', words: 'disk lost' } },
    'An operator is handling a restored ledger: disk lost. `volley db restored --since TIME --reason …` puts requests that may have been sent in doubt and goes on (docs/how-to/backup.md).',
  ],
  [
    { kind: 'other_timeline', was: '00000001', is: '0000000A' },
    'The server is on another timeline (1, now 10): a standby was promoted, or a backup restored, which may lack the last claims.',
  ],
  [
    { kind: 'same_contact', key: [], file: null, line: 2, differs: true },
    'same address as line 2, but its message differs',
  ],
  [
    { kind: 'same_contact', key: ['id', 'part'], file: 'b.csv', line: 3, differs: false },
    'same "id" and "part" as b.csv:3',
  ],
  [
    { kind: 'suppressed_address', channel: 'sms', subAccount: '', source: 'operator', reason: '', run: null },
    'suppressed for sms',
  ],
  [
    {
      kind: 'suppressed_address',
      channel: 'sms',
      subAccount: 'North',
      source: 'reply',
      reason: 'Stop',
      run: '1-a',
    },
    'suppressed for sms of SubAccount North: replied "Stop" (run 1-a)',
  ],
  [{ kind: 'sent_recently', milliseconds: 86_400_000, run: '1-a' }, 'reached within 1d, by run 1-a'],
  [
    { kind: 'sent_recently', milliseconds: 86_400_000, run: null },
    'reached within 1d, by a run of another account',
  ],
  [
    { kind: 'over_frequency', most: 3, milliseconds: 604_800_000, of: 'account', run: '1-a' },
    'would get more than 3 messages within 7d (frequency of the account), the latest by run 1-a',
  ],
  [
    { kind: 'over_frequency', most: 1, milliseconds: 86_400_000, of: 'project', run: null },
    'would get more than 1 message within 1d (frequency of the project)',
  ],
  [{ kind: 'over_daily_limit', most: 50_000 }, 'beyond the 50,000 recipients a day of the account'],
];

test.each(worded)('%j has its text', (reason, words) => {
  expect(formatReason(reason)).toBe(words);
});

test('text from the service or an operator is shown unchanged', () => {
  expect(formatReason('Missing or empty message')).toBe('Missing or empty message');
});
