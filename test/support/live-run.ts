import type { RunState } from '../../src/domain/runs.ts';
import type { RunWait } from '../../src/domain/waits.ts';
import type { LiveRun } from '../../src/engine/live/live-runs.ts';
import { noCounts } from './run-counts.ts';

/** What a contact file or a service can bring. */
export const hostileTexts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror="alert(1)">',
  "' onmouseover='alert(1)",
  '\u202eevil\u202c \u2066text\u2069 مدرسة',
  `${'x'.repeat(10_000)} 🎉`,
  '</table></section>]]><!--',
];

type Options = {
  readonly state: RunState;
  readonly waits?: readonly RunWait[];
  /** Instead of each name and word. */
  readonly text?: string;
  readonly settled?: number;
  readonly total?: number;
  readonly inDoubt?: number;
  readonly failed?: number;
};

/** A run as a page shows it. */
export function aLiveRun({ state, waits = [], text = 'words', ...counts }: Options): LiveRun {
  const { settled = 8, total = 10, inDoubt = 0, failed = 0 } = counts;
  const at = new Date('2026-09-26T13:00:00Z');
  const cost = {
    recipients: 8,
    accepted: 8,
    price: '0.80',
    estimated: '0.64',
    estimatedTax: '0.1',
    difference: '0',
    unrated: 0,
  };
  return {
    head: {
      run: '260927-abcde',
      campaign: text,
      account: text,
      channel: 'sms',
      kind: 'ordinary',
      state,
      stateReason: text,
      createdAt: at,
      finishedAt: null,
      purgedAt: null,
      recordsDeletedAt: null,
    },
    at,
    progress: {
      state,
      stateReason: text,
      counts: {
        ...noCounts,
        state,
        requests: { ...noCounts.requests, total, in_doubt: inDoubt, accepted: settled, failed },
        recipients: { ...noCounts.recipients, total, accepted: settled, failed, unknown: inDoubt },
      },
      total,
      settled,
      notAccepted: inDoubt + failed,
      settledSince: settled,
      rejectedSince: 0,
      phase: 'sending',
      heldSlices: 1,
      opensAt: null,
      preemptedBy: null,
      canary: null,
      rest: null,
      idleSince: null,
      refusal: null,
    },
    answers: {
      ended: [{ second: 1_790_000_000, verdict: 'accepted', httpStatus: 200, attempts: settled }],
      latency: { answered: settled, median: 10, p95: 20, p99: 30 },
    },
    waits: waits.length > 0 ? [...waits] : state === 'paused' ? [{ kind: 'resume', reason: text }] : [],
    perSecond: undefined,
    secondsLeft: null,
    limits: undefined,
    failures: [{ group: 'abc', state: 'rejected', reason: text, requests: 1, recipients: 1 }],
    results: [{ outcome: 'undelivered', result: text, group: 'def', recipients: 1 }],
    costs: {
      asOf: at,
      currency: 'NZD',
      total: cost,
      bySubAccount: { lines: [{ value: text, ...cost }], others: null },
      byChargeCode: { lines: [{ value: text, ...cost }], others: null },
    },
    rejections: [{ reason: 'invalid', column: text, contacts: 1 }],
    variants: [],
    former: { runs: 0, accepted: 0, delivered: 0 },
    unapplied: { waiting: 0, since: null, failed: 0 },
    decisions: [],
    events: {
      states: [{ state: 'planned', reason: text, at }],
      audit: [
        {
          entry: '1',
          at,
          who: text,
          how: 'cli',
          token: null,
          action: 'run paused',
          run: '260927-abcde',
          subject: null,
          details: { reason: text },
          outcome: 'done',
        },
      ],
      notifications: [],
    },
  };
}
