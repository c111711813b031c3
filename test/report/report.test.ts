import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../src/domain/runs.ts';
import { billingSheet } from '../../src/report/billing/billing-sheet.ts';
import { formatSheet } from '../../src/report/formats/format-sheet.ts';
import type { Sheet } from '../../src/report/formats/sheet.ts';
import { formatRunDetails } from '../../src/report/run/format-run-report.ts';
import type { RunDetails } from '../../src/report/run/run-details.ts';
import { formatRunSummary } from '../../src/report/run/run-summary.ts';
import { plainScreen, type Screen } from '../../src/report/screen.ts';

const summary: RunSummary = {
  run: '261121-7k2mq',
  campaign: 'outage',
  kind: 'ordinary',
  state: 'paused',
  contacts: { read: 500, invalid: 3, duplicate: 2, suppressed: 0 },
  requests: {
    total: 10,
    planned: 1,
    sending: 0,
    accepted: 6,
    rejected: 1,
    failed: 0,
    in_doubt: 2,
    cancelled: 0,
    abandoned: 0,
  },
  recipients: {
    total: 495,
    pending: 5,
    accepted: 300,
    delivered: 90,
    undelivered: 0,
    rejected: 50,
    failed: 0,
    unknown: 50,
    cancelled: 0,
  },
};

describe('formatRunSummary', () => {
  test("waiting requests show their windows' zones and one screen zone", () => {
    const waiting = (hour: number, timeZones: readonly string[]) => ({
      timeZones,
      until: `2026-11-22T${hour}:00:00.000Z`,
      requests: 2,
      recipients: 300,
    });
    const zones = ['Asia/Tokyo', 'Asia/Kolkata', 'UTC', 'Etc/GMT-1', 'Etc/GMT-2', 'Etc/GMT-3'];
    const waits = [
      waiting(20, ['Pacific/Auckland', 'Pacific/Chatham']),
      ...zones.map((zone) => waiting(21, [zone])),
    ];
    const linesOn = (screen?: Screen) =>
      formatRunSummary({ ...summary, state: 'running', waits }, screen)
        .split('\n')
        .slice(5);
    expect(linesOn()).toEqual([
      '  waiting     2 requests (300 recipients) for their window in Pacific/Auckland and 1 more time zone, until 2026-11-22 20:00 UTC',
      '  waiting     2 requests (300 recipients) for their window in Asia/Tokyo, until 2026-11-22 21:00 UTC',
      '  waiting     2 requests (300 recipients) for their window in Asia/Kolkata, until 2026-11-22 21:00 UTC',
      '  waiting     2 requests (300 recipients) for their window in UTC, until 2026-11-22 21:00 UTC',
      '  waiting     2 requests (300 recipients) for their window in Etc/GMT-1, until 2026-11-22 21:00 UTC',
      '  waiting     4 more requests for windows that open later',
    ]);
    expect(linesOn({ ...plainScreen, zone: 'Asia/Tokyo' })[0]).toMatch(/until 2026-11-23 05:00 Asia\/Tokyo$/);
  });

  test('every state that occurs is named, including unknown', () => {
    expect(formatRunSummary(summary).split('\n')).toEqual([
      'Run 261121-7k2mq  outage  paused',
      '  contacts    500 read: 3 invalid, 2 duplicate',
      '  requests    10: 1 planned, 6 accepted, 1 rejected, 2 in doubt',
      '  recipients  495: 5 pending, 300 accepted, 90 delivered, 50 rejected, 50 unknown',
      '  outcome     500: 90 delivered, 305 waiting, 50 not accepted, 50 unknown, 5 left out; 23.1 % delivered',
    ]);
  });

  test('the summary of an empty run is its totals', () => {
    const zeros = <Counts extends Record<string, number>>(counts: Counts): Counts =>
      Object.fromEntries(Object.keys(counts).map((name) => [name, 0])) as Counts;
    const empty: RunSummary = {
      ...summary,
      contacts: zeros(summary.contacts),
      requests: zeros(summary.requests),
      recipients: zeros(summary.recipients),
    };
    expect(formatRunSummary(empty).split('\n').slice(1)).toEqual([
      '  contacts    0 read',
      '  requests    0',
      '  recipients  0',
    ]);
  });
});

describe('formatRunDetails', () => {
  const nothingMore: Omit<RunDetails, 'summary'> = {
    stateReason: null,
    recordsDeletedAt: null,
    failures: [],
    variants: [],
    resolutions: [],
    deliveryResults: [],
    cancellations: [],
    rejectedContacts: [],
    account: 'main',
    channel: 'sms',
    timeZone: 'Pacific/Auckland',
    timeline: [],
    sending: {
      firstAt: null,
      lastAt: null,
      attempts: 0,
      retries: 0,
      retried: 0,
      unit: 'minute',
      ends: [],
      sends: [],
      slowest: [],
      answerTimes: { answered: 0, median: null, p95: null, p99: null },
    },
    conflicts: { reports: 0, recipients: 0, listed: [] },
    rejections: [],
    money: null,
  };

  test('the details of a run without events are its summary', () => {
    expect(formatRunDetails({ summary, ...nothingMore })).toBe(
      `${formatRunSummary(summary)}\n  account     main, sms\n  attempts    0`,
    );
  });

  test('the details have pause, failures, delivery results, and rejected contacts out of all', () => {
    const text = formatRunDetails({
      summary,
      ...nothingMore,
      stateReason: 'Bad token\u001b[2J',
      failures: [{ state: 'rejected', reason: 'Missing Sender', requests: 1, recipients: 50 }],
      resolutions: [
        {
          resolution: 'abandon',
          by: 'ann@office',
          reason: 'too late',
          requests: 3,
          at: new Date('2026-11-21T10:00:00Z'),
        },
      ],
      cancellations: [{ reason: 'suppressed after the run was planned', recipients: 7 }],
      deliveryResults: [
        { outcome: 'delivered', result: 'SentOK', recipients: 90 },
        { outcome: 'undelivered', result: null, recipients: 1 },
      ],
      conflicts: {
        reports: 3,
        recipients: 2,
        listed: [
          {
            messageId: 'abc',
            address: '+64211',
            decided: 'delivered',
            decidedResult: 'SentOK',
            outcome: 'undelivered',
            result: 'Bad Number',
            decidedAt: new Date('2026-11-21T10:00:00Z'),
            receivedAt: new Date('2026-11-21T11:00:00Z'),
          },
        ],
      },
      rejectedContacts: [
        {
          file: 'contacts.csv',
          line: 7,
          column: 'phone',
          reason: 'invalid',
          detail: '"x" is not a phone number',
        },
      ],
    });
    expect(text).toContain('  because     Bad token\\x1b[2J');
    expect(text).toMatch(/Delivery results\n.*Outcome.*Result.*Recipients.*delivered.*SentOK.*90/s);
    expect(text).toContain(
      `3 conflicting delivery reports of 2 recipients, kept and not counted, because their final outcome differs from the first (all: \`volley delivery-reports list ${summary.run} --state conflicting\`)`,
    );
    expect(text).toMatch(/abc .*delivered .*SentOK .*23:00:00 .*undelivered .*Bad Number .*00:00:00/);
    expect(text).toMatch(/Requests that were not accepted\n.*rejected.*Missing Sender.*1.*50/s);
    expect(text).toMatch(
      /Requests in doubt that were resolved\n.*abandon .*too late .*ann@office .*2026-11-21 23:00:00 .*3/s,
    );
    expect(text).toMatch(
      /Recipients cancelled since the run was planned\n.*suppressed after the run was planned.*7/s,
    );
    expect(text).toMatch(
      /Rejected contacts \(1 of 5 shown\)\n.*7 .*phone.*invalid.*"x" is not a phone number/s,
    );
  });
});

describe('billingSheet', () => {
  const nothing = {
    failed: 0,
    faxPages: '0',
    voiceSeconds: '0',
    emails: '0',
    expectedSmsParts: '0',
    estimated: '0',
    estimatedTax: '0',
    difference: '0.10',
    unrated: 0,
    currency: null,
    correctionOf: null,
    corrections: false,
    reportedUnsent: 0,
    notYetReported: 0,
  };
  const figures = {
    ...nothing,
    kind: 'ordinary' as const,
    requests: 1,
    recipients: 3,
    accepted: 2,
    delivered: 1,
    undelivered: 1,
    unknown: 1,
    smsParts: '2',
    price: '0.10',
  };
  const total = { ...figures, requests: 2, recipients: 6, price: '0.20', difference: '0.20' };
  const query = {
    by: ['SubAccount', 'ChargeCode'],
    from: '2026-11-01T00:00',
    until: null,
    timeZone: 'UTC',
    filter: { channel: ['sms'], Department: [null] },
  } as const;
  async function* lines() {
    yield [
      { ...figures, values: ['TAS', 'NET-1'] },
      { ...figures, values: [null, null] },
    ];
  }
  const sheet = () => billingSheet(query, { lines: lines(), totals: [total] }, { at: new Date(0) });

  test('each SubAccount and ChargeCode has a line, missing names are marked, and a total ends the report', async () => {
    const text = await textOf(sheet(), 'table');
    const cells = text
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) =>
        line
          .split('│')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(cells).toEqual([
      [
        'SubAccount',
        'ChargeCode',
        'Requests',
        'Recipients',
        'Accepted',
        'Unknown',
        'Delivered',
        'Undelivered',
        'Not yet reported',
        'SMS parts',
        'Price',
        'Difference',
      ],
      ['TAS', 'NET-1', '1', '3', '2', '1', '1', '1', '0', '2', '0.10', '0.10'],
      ['(none)', '(none)', '1', '3', '2', '1', '1', '1', '0', '2', '0.10', '0.10'],
      Array(12).fill(''),
      ['Total', '', '2', '6', '2', '1', '1', '1', '0', '2', '0.20', '0.20'],
    ]);
  });

  test('the report names its period and payers', async () => {
    expect(await textOf(sheet(), 'table')).toContain(
      'sent from 2026-11-01T00:00, UTC\nby SubAccount, ChargeCode\nchannel: sms\nDepartment: (none)\n',
    );
  });

  test('machine formats have every figure, also when all lines are zero', async () => {
    const { rows, totals } = JSON.parse(await textOf(sheet(), 'json'));
    expect(rows[0]).toMatchObject({ SubAccount: 'TAS', failed: 0, faxPages: '0', correctionOf: null });
    expect(totals).toMatchObject([{ SubAccount: 'Total', price: '0.20' }]);
  });
});

async function textOf<Row>(sheet: Sheet<Row>, format: 'table' | 'json'): Promise<string> {
  let text = '';
  for await (const piece of formatSheet(sheet, format)) text += String(piece);
  return text;
}
