import { expect, test } from 'vitest';
import { historyPart } from '../../../src/dashboard/recipients/recipient-page.ts';
import type { RecipientHistory } from '../../../src/ledger/recipients/history.ts';
import { hostileTexts } from '../../support/live-run.ts';

const at = new Date('2026-09-26T13:00:00Z');

/** With this text in each field that a contact file, a campaign, an operator or the service fills. */
function historyOf(text: string, changes: Partial<RecipientHistory> = {}): RecipientHistory {
  return {
    run: '260927-abcde',
    campaign: text,
    account: text,
    kind: 'test',
    channel: 'email',
    purgedAt: null,
    address: text,
    originalAddress: `${text} `,
    file: text,
    line: 2,
    row: 2,
    plannedAt: at,
    subAccount: text,
    department: text,
    chargeCode: text,
    request: 1,
    messageId: text,
    state: 'undelivered',
    reason: text,
    units: '1',
    price: '0.08',
    attempts: [
      { attempt: 1, startedAt: at, finishedAt: at, verdict: 'accepted', httpStatus: 200, detail: text },
    ],
    resolutions: [{ resolvedAt: at, resolution: 'accepted', by: text, reason: text }],
    reports: [
      {
        report: '1',
        account: text,
        receivedAt: at,
        state: 'inbound',
        why: text,
        messageId: text,
        jobNumber: text,
        address: text,
        status: text,
        result: text,
        outcome: null,
        text,
        units: null,
        price: null,
        run: '260927-abcde',
      },
    ],
    ...changes,
  };
}

const viewer = { zone: 'Pacific/Auckland', mayRun: true, mayApprove: true, mayAdmin: true };

test('hostile text of files, people and the service is shown as text', () => {
  for (const text of hostileTexts) {
    const page = historyPart(historyOf(text), viewer).text;
    expect(page).not.toMatch(/<script|<img|onerror="|[\u202a-\u202e\u2066-\u2069]/);
    expect(page).not.toMatch(/ onmouseover='/);
  }
});

test('a long text is cut, and the rest is a click away', () => {
  const page = historyPart(historyOf('x'.repeat(10_000), { campaign: 'c' }), viewer).text;
  expect(page).toContain('<summary');
});

test('where nothing was sent, the page does not promise that it will be', () => {
  const none = { state: 'cancelled', attempts: [], reports: [], resolutions: [] } as const;
  const page = historyPart(historyOf('', none), viewer).text;
  expect(page).toContain('Nothing was sent to it.');
});

test('a purged recipient has no address, and its counts and costs stay', () => {
  const page = historyPart(historyOf('', { purgedAt: at, reports: [], resolutions: [] }), viewer).text;
  expect(page).toContain('erased');
  expect(page).toContain('2026-09-27 01:00:00');
  expect(page).toContain('0.08');
});
