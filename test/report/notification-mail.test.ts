import { expect, test } from 'vitest';
import type { RunSummary } from '../../src/domain/runs.ts';
import { formatNotificationMail } from '../../src/report/notification-mail.ts';

function summary(recipients: Partial<RunSummary['recipients']>): RunSummary {
  const states = {
    pending: 0,
    accepted: 0,
    delivered: 0,
    undelivered: 0,
    rejected: 0,
    failed: 0,
    unknown: 0,
  };
  const requests = { planned: 0, sending: 0, accepted: 0, rejected: 0, failed: 0, in_doubt: 0 };
  return {
    run: '261121-abcde',
    campaign: 'night',
    kind: 'ordinary',
    state: 'completed',
    contacts: { read: 10_000, invalid: 0, duplicate: 0, suppressed: 0 },
    requests: { total: 50, ...requests, cancelled: 0, abandoned: 0 },
    recipients: { total: 10_000, ...states, cancelled: 0, ...recipients },
  };
}

const timestamp = '2026-11-21T22:00:00.000Z';
const subjectOf = (
  type: 'completed' | 'failures' | 'paused',
  recipients: Partial<RunSummary['recipients']>,
) =>
  formatNotificationMail({
    type: `run.${type}`,
    timestamp,
    data: { ...summary(recipients), reason: null, waitsFor: [] },
  }).subject;

test.each([
  ['completed', { accepted: 10_000 }, 'Campaign night: completed, 10,000 sent'],
  ['failures', { rejected: 2, failed: 1 }, 'Campaign night: completed, 3 of 10,000 failed'],
  [
    'failures',
    { failed: 3, unknown: 200 },
    'Campaign night: completed, 3 of 10,000 failed, 200 of 10,000 unknown',
  ],
  ['paused', { pending: 4_000 }, 'Campaign night: paused, 4,000 of 10,000 not sent'],
] as const)('the subject says what happened to how many: %s', (type, recipients, subject) => {
  expect(subjectOf(type, recipients)).toBe(subject);
});

test('the text has summary, reason and what the run waits for, and nothing that a terminal would obey', () => {
  const reason = 'the credential\u001b[2J was refused';
  const waitsFor = [{ kind: 'resume', reason }] as const;
  const data = { ...summary({ pending: 4_000 }), reason, waitsFor };
  const { text } = formatNotificationMail({ type: 'run.paused', timestamp, data });
  expect(text.split('\n')).toEqual([
    'Run 261121-abcde  night  completed',
    '  contacts    10000 read',
    '  requests    50',
    '  recipients  10000: 4000 pending',
    '  because     the credential\\x1b[2J was refused',
    '  waits       When the cause is fixed, resume it. Nothing is sent before. `volley resume 261121-abcde` does it.',
    '  event       run.paused, 2026-11-21T22:00:00.000Z',
    '',
    'volley report run 261121-abcde   has the details.',
  ]);
});

test('ticks missed together are one e-mail', () => {
  const missed = { schedule: 'night.yaml', campaign: 'night', times: 3, state: 'missed' } as const;
  const [from, until] = ['2026-11-20T01:00:00Z', '2026-11-20T03:00:00Z'];
  const { subject, text } = formatNotificationMail({
    type: 'schedule.missed',
    timestamp,
    data: { ...missed, from, until, reason: 'no worker was there in time' },
  });
  expect(subject).toBe('Campaign night: missed, 3 times');
  expect(text).toContain(
    `  times       3, from ${from} to ${until}\n  because     no worker was there in time`,
  );
});
