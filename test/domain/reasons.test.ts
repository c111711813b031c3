import { expect, test } from 'vitest';
import { holdReasonKinds } from '../../src/domain/hold-reasons.ts';
import {
  approvalReasonKinds,
  formatReason,
  type Reason,
  requestReasonKinds,
  runReasonKinds,
  tickReasonKinds,
} from '../../src/domain/reasons.ts';
import { rejectionKinds } from '../../src/domain/rejected-contacts.ts';

const worded: readonly (readonly [Exclude<Reason, string>, string])[] = [
  [{ kind: 'job_number', jobNumber: 'A17' }, 'job number A17'],
  [
    { kind: 'repeated_job_number', jobNumber: 'A17' },
    'the service answered another request with the same job number A17, so the answer proves nothing',
  ],
  [{ kind: 'reported' }, 'proved by a delivery report or a reply'],
  [{ kind: 'looked_up' }, 'proved by the status look-up'],
  [{ kind: 'worker_ended' }, 'the process that was sending it ended before the answer was recorded'],
  [
    { kind: 'resent', state: 'rejected', words: 'No credit' },
    'sent again and rejected, but it may have arrived before: No credit',
  ],
  [{ kind: 'resent', state: 'failed', words: null }, 'sent again and failed, but it may have arrived before'],
  [{ kind: 'run_cancelled' }, 'the run was cancelled'],
  [{ kind: 'run_cancelled_before_resend' }, 'the run was cancelled before it was sent again'],
  [{ kind: 'all_suppressed' }, 'every recipient was suppressed after the run was planned'],
  [{ kind: 'all_suppressed_before_resend' }, 'not sent again, because every recipient is suppressed'],
  [{ kind: 'suppressed' }, 'suppressed after the run was planned'],
  [{ kind: 'withheld', because: 'stopping' }, 'stopped before it was sent'],
  [{ kind: 'withheld', because: 'not_held' }, 'not sent, because another worker may hold its slice'],
  [{ kind: 'withheld', because: 'window_shut' }, 'not sent, because its window had closed'],
  [{ kind: 'withheld', because: 'service_refuses' }, 'not sent, because the service refuses every request'],
  [{ kind: 'withheld', because: 'files_unread' }, 'its files could not be read from the ledger'],
  [{ kind: 'claim_unanswered' }, 'not sent, because the answer of the ledger to its claim was lost'],
  [
    { kind: 'resolved', resolution: 'accepted', by: 'ann', words: 'seen' },
    'resolved as accepted by ann: seen',
  ],
  [{ kind: 'resolved', resolution: 'resend', by: 'ann', words: 'seen' }, 'to be sent again by ann: seen'],
  [{ kind: 'resolved', resolution: 'abandon', by: 'ann', words: 'seen' }, 'abandoned by ann: seen'],
  [
    { kind: 'ledger_restored', since: '2026-11-01T03:00:00.000Z', words: 'disk lost' },
    'the ledger was restored to 2026-11-01T03:00:00.000Z (disk lost): it may have been sent since',
  ],
  [
    { kind: 'untried_proof', messageId: 'aa' },
    'a delivery report or a reply proves that the service has aa, which this ledger never sent; the ledger was restored from a backup, or a copy of it has sent the run',
  ],
  [{ kind: 'interrupted' }, 'interrupted'],
  [
    { kind: 'waits_for_approval', why: { kind: 'every_run' } },
    'waits for approval: every run of the campaign',
  ],
  [{ kind: 'approved', by: 'bob' }, 'approved by bob'],
  [
    { kind: 'foreign_answers', requests: 20, url: 'https://a.b/c', words: 'HTTP 404, text/html: <p>' },
    'all of the first 20 requests are in doubt, because what answers at https://a.b/c is not the interface of the account: HTTP 404, text/html: <p> (failFast). See "baseUrl" of the account',
  ],
  [{ kind: 'all_rejected', requests: 10 }, 'the service rejected all of the first 10 requests (failFast)'],
  [
    { kind: 'too_many_rejected', rejected: 8, requests: 100, share: 0.07 },
    'the service rejected 8 of 100 requests, more than 7% (failFast)',
  ],
  [
    { kind: 'too_many_rejected', rejected: 13, requests: 100, share: 0.125 },
    'the service rejected 13 of 100 requests, more than 12.5% (failFast)',
  ],
  [
    { kind: 'credential_refused', account: 'main', words: 'bad token' },
    'the service refused the credential of account "main": bad token',
  ],
  [
    { kind: 'service_refuses', account: 'main', milliseconds: 3_600_000, words: 'HTTP 503' },
    'the service has refused every request of account "main" for 1h: HTTP 503',
  ],
  [
    { kind: 'doubts_reopened', run: '1-a' },
    'requests in doubt are to be sent again; `volley resume 1-a` sends them',
  ],
  [
    { kind: 'ledger_held', hold: { kind: 'being_restored', words: 'disk lost' } },
    'An operator is handling a restored ledger: disk lost. `volley db restored --since TIME --reason …` puts requests that may have been sent in doubt and goes on (docs/how-to/backup.md).',
  ],
  [
    { kind: 'former_backup' },
    'An operator reported a restore of this ledger, but now it is in its earlier state again: an older backup has replaced it.',
  ],
  [
    { kind: 'lacks_claim', at: '2026-11-01T03:00:00.000Z' },
    'This machine claimed a request at 2026-11-01T03:00:00.000Z that the ledger lacks: it was restored from a backup, or is a copy.',
  ],
  [
    { kind: 'lacks_attempt' },
    'A delivery report or a reply proves that the service has a message that this ledger never sent: the ledger was restored from a backup, or a copy of it has sent.',
  ],
  [
    { kind: 'other_server', was: '7', is: '8' },
    'The ledger was on another server (system identifier 7, now 8): it was restored from a backup, copied or moved.',
  ],
  [
    { kind: 'other_timeline', was: '00000001', is: '0000000A' },
    'The server is on another timeline (1, now 10): a standby was promoted, or a backup restored, which may lack the last claims.',
  ],
  [
    { kind: 'other_database', was: '5', is: '6' },
    'The ledger was another database of this server (number 5, now 6): it was restored from a dump, or is a copy.',
  ],
  [{ kind: 'being_restored', words: 'disk lost' }, 'An operator is handling a restored ledger: disk lost.'],
  [{ kind: 'every_run' }, 'every run of the campaign'],
  [{ kind: 'many_recipients', recipients: 7, limit: 5 }, '7 recipients, more than 5'],
  [{ kind: 'high_cost', cost: '0.50', currency: 'NZD', limit: '0.10' }, '0.50 NZD, more than 0.10'],
  [{ kind: 'unknown_cost', words: 'no rate' }, 'its cost is unknown: no rate'],
  [{ kind: 'no_worker', catchUpMilliseconds: 3_600_000 }, 'no worker was there in time (catchUp: 1h)'],
  [{ kind: 'run_not_over', run: '1-a' }, 'run 1-a has not ended'],
  [
    { kind: 'ledger_restored_since', words: 'disk lost' },
    'the ledger was restored (disk lost), and its run may have been sent',
  ],
  [{ kind: 'sent', run: '1-a' }, 'reached by run 1-a'],
  [{ kind: 'to_be_sent', run: '1-a' }, 'to be reached by run 1-a'],
  [{ kind: 'may_have_been_sent', run: '1-a' }, 'may have been reached by run 1-a'],
  [{ kind: 'sent_again', run: '1-a' }, 'reached again by run 1-a'],
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
  [
    { kind: 'suppressed_hash', channel: 'sms', subAccount: 'North' },
    'suppressed for sms of SubAccount North, known only by its hash',
  ],
  [{ kind: 'listed', file: 'no.csv', line: 4 }, 'listed in no.csv:4'],
  [{ kind: 'sent_recently', milliseconds: 86_400_000, run: '1-a' }, 'reached within 1d, by run 1-a'],
  [
    { kind: 'sent_recently', milliseconds: 86_400_000, run: null },
    'reached within 1d, by a run of another account',
  ],
];

test.each(worded)('%j has its text', (reason, words) => {
  expect(formatReason(reason)).toBe(words);
});

test('text from the service or an operator is shown unchanged', () => {
  expect(formatReason('Missing or empty message')).toBe('Missing or empty message');
});

test('this file tests every kind of reason that the ledger can store', () => {
  const kinds = new Set<string>(
    Object.keys({
      ...requestReasonKinds,
      ...runReasonKinds,
      ...holdReasonKinds,
      ...approvalReasonKinds,
      ...tickReasonKinds,
      ...rejectionKinds,
    }),
  );
  expect(new Set(worded.map(([{ kind }]) => kind))).toEqual(kinds);
});
