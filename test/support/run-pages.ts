import type { RunDetails } from '../../src/report/run/run-details.ts';
import { hostileNames } from './pages.ts';

const figures = { recipients: 1_234_567, accepted: 1_234_567, price: '98765.4320', estimated: '98765.4320' };
const money = { ...figures, estimatedTax: '14814.8148', difference: '-0.0001', unrated: 3 };
const at = new Date('2026-11-03T04:05:06Z');
const words = hostileNames.join(' ');
const messageId = 'W'.repeat(40);

const largestOf = (names: readonly string[]): NonNullable<RunDetails['money']>['bySubAccount'] => ({
  lines: [...names, null].map((value) => ({ value, ...money })),
  others: { count: 1_980, ...money },
});

const sending: RunDetails['sending'] = {
  firstAt: at,
  lastAt: at,
  attempts: 1_020_000,
  retries: 20_000,
  retried: 20_000,
  answerTimes: { answered: 1_020_000, median: 120, p95: 12_000, p99: 30_000 },
  ends: [{ verdict: 'in_doubt', httpStatus: null, attempts: 20_000 }],
  unit: 'minute',
  sends: Array.from({ length: 60 }, (_, minute) => ({
    at: `2026-11-03T17:${String(minute).padStart(2, '0')}`,
    requests: 12_345,
    recipients: 20_000 * (minute % 7),
    retries: 3,
  })),
  slowest: Array.from({ length: 10 }, (_, index) => ({
    messageId,
    request: index + 1,
    attempt: 1,
    startedAt: at,
    milliseconds: 30_000,
    httpStatus: 500,
    verdict: 'in_doubt',
    state: 'in_doubt',
  })),
};

const conflicts: RunDetails['conflicts'] = {
  reports: 1_000,
  recipients: 999,
  listed: [
    {
      messageId,
      address: '+64211234567',
      receivedAt: at,
      outcome: 'undelivered',
      result: words,
      decided: 'delivered',
      decidedResult: words,
      decidedAt: at,
    },
  ],
};

/** The report of a large run with every kind of problem, and hostile names. */
export function aReportedRun(): RunDetails {
  const states = { planned: 0, sending: 0, accepted: 9, rejected: 1, failed: 1, in_doubt: 1, cancelled: 1 };
  return {
    summary: {
      run: '261103-7k2mq',
      campaign: '<b>outage</b>',
      kind: 'ordinary',
      state: 'paused',
      contacts: { read: 1_250_000, invalid: 300, duplicate: 20, suppressed: 1 },
      requests: { total: 13, ...states, abandoned: 0 },
      recipients: {
        total: 1_249_679,
        pending: 0,
        accepted: 200_000,
        delivered: 1_000_000,
        undelivered: 49_679,
        rejected: 0,
        failed: 0,
        unknown: 0,
        cancelled: 0,
      },
    },
    stateReason: words,
    recordsDeletedAt: null,
    account: 'main',
    channel: 'sms',
    timeZone: 'Pacific/Auckland',
    timeline: [
      { what: 'planned', at, reason: null },
      { what: 'paused', at, reason: words },
    ],
    sending,
    variants: [],
    failures: [{ state: 'rejected', reason: words, requests: 1, recipients: 100 }],
    resolutions: [{ resolution: 'abandon', by: 'ann@office', reason: words, requests: 1, at }],
    deliveryResults: [{ outcome: 'undelivered', result: words, recipients: 49_679 }],
    conflicts,
    cancellations: [{ reason: words, recipients: 5 }],
    rejections: [{ reason: 'invalid', column: 'phone', contacts: 300 }],
    rejectedContacts: hostileNames.map((detail, line) => {
      return { file: 'contacts.csv', line, column: 'phone', reason: 'invalid', detail };
    }),
    money: {
      currency: 'NZD',
      ...money,
      bySubAccount: largestOf(hostileNames),
      byChargeCode: largestOf(Array.from({ length: 19 }, (_, index) => `C-${index}`)),
    },
  };
}
