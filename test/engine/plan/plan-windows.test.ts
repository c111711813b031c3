import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/plans/preview-text.ts';
import type { EngineContext } from '../../../src/engine/context.ts';
import { type PlanFindings, planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import type { Preview } from '../../../src/engine/plan/preview.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { setRateLimits } from '../../../src/ledger/limits/rate-limits.ts';
import { plainScreen } from '../../../src/report/screen.ts';
import { anAccount } from '../../support/account.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { settingsIn } from '../../support/workspace.ts';

const opened = testLedger();
const workspace = testWorkspace();
let context: EngineContext;
/** Friday evening in Auckland, afternoon in Perth. */
const now = new Date('2026-11-20T08:00:00Z');
beforeAll(() => {
  context = { ...opened.context, now: () => now };
});
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const windowed = 'window: { days: Mon-Fri, from: "09:00", to: "17:00", timeZone: { column: zone } }';

async function write(
  rows: readonly string[],
  more: string,
  message = 'Message: "Hi [[name]]"',
): Promise<void> {
  await workspace.write('contacts.csv', ['to,name,zone,when', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: test
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to }, maxInvalid: 100% }
message: { ${message} }
dispatch: { chunkSize: 2 }
${more}
`,
  );
}

async function prepare() {
  return prepareCampaign('campaign.yaml', settingsIn(workspace), { keeps: 'files' });
}

const preview = async (): Promise<Preview> => previewCampaign(await prepare(), context);

async function plan(onFound: (found: PlanFindings) => unknown = () => {}): Promise<string> {
  return planRun(context, await prepare(), { events: { onFound } });
}

const mobile = (index: number): string => `04120${String(index).padStart(5, '0')}`;

const query = async <Row extends object>(sql: string, run: string): Promise<Row[]> =>
  (await opened.ledger.pool.query<Row>(sql, [run])).rows;

describe('a window with a time zone for each row', () => {
  // Five in Auckland, written in three ways, three in Perth, and two without a known zone.
  const rows = [
    ...[
      'Pacific/Auckland',
      'New Zealand Standard Time',
      'New Zealand',
      'Pacific/Auckland',
      'Pacific/Auckland',
    ],
    'Australia/Perth',
    'Australia/Perth',
    'W. Australia',
    '',
    'Gondor',
  ].map((zone, index) => `${mobile(index)},Ann,${zone},`);

  test('planning makes the requests that the preview counts and rejects rows without a zone', async () => {
    await write(rows, windowed);
    const previewed = await preview();
    const run = await plan();
    const summary = await requireSummary(context, run);
    expect(previewed).toMatchObject({ requests: 5, recipients: 8, contacts: { invalid: 2 } });
    expect(summary).toMatchObject({ requests: { total: 5 }, recipients: { total: 8 } });
    expect(previewed.rejected).toEqual([
      {
        file: 'contacts.csv',
        line: 10,
        column: 'zone',
        reason: 'invalid',
        detail: 'no time zone, and the campaign sets no "timeZone" for such recipients',
      },
      {
        file: 'contacts.csv',
        line: 11,
        column: 'zone',
        reason: 'invalid',
        detail: 'expected a time zone such as Pacific/Auckland, got "Gondor"',
      },
    ]);
    expect(summary.waits).toEqual([
      {
        timeZones: ['Pacific/Auckland'],
        until: '2026-11-22T20:00:00.000Z',
        requests: 3,
        recipients: 5,
      },
    ]);
  });

  test('rows without a zone use the campaign’s time zone', async () => {
    await write(rows, `${windowed}\ntimeZone: New Zealand`);
    expect(await zonesOf(await plan())).toEqual({ 'Australia/Perth': 3, 'Pacific/Auckland': 6 });
  });

  async function zonesOf(run: string): Promise<Record<string, number>> {
    const found = await query<{ zone: string; recipients: number }>(
      `SELECT zones[1] AS zone, sum(recipients)::integer AS recipients FROM request_states JOIN envelopes USING (run_id, envelope)
       JOIN run_windows w USING (run_id, window_index) WHERE run_id = $1 GROUP BY 1 ORDER BY 1`,
      run,
    );
    return Object.fromEntries(found.map(({ zone, recipients }) => [zone, recipients]));
  }

  test('a rerun gets the windows of its own day', async () => {
    await write(rows.slice(0, 6), windowed.replace('zone }', 'zone }, hold: service'));
    expect((await preview()).messages.map(({ line, fields }) => `${line} ${fields['SendTime']}`)).toEqual([
      '2 2026-11-23T09:00',
      '3 2026-11-23T09:00',
      '4 2026-11-23T09:00',
    ]);
    const run = await plan();
    const fields = (of: string) =>
      query(
        `SELECT DISTINCT zones[1] AS zone, fields ->> 'SendTime' AS time FROM envelopes JOIN run_windows w USING (run_id, window_index)
         WHERE run_id = $1 ORDER BY 1`,
        of,
      );
    expect(await fields(run)).toEqual([
      { zone: 'Australia/Perth', time: null },
      { zone: 'Pacific/Auckland', time: '2026-11-23T09:00' },
    ]);
    await createRequestRows(opened.ledger.pool, run);
    await query(`UPDATE requests SET state = 'rejected' WHERE run_id = $1`, run);
    await query(`UPDATE slices SET state = 'waiting', job = NULL WHERE run_id = $1`, run);
    await query(`UPDATE runs SET state = 'completed' WHERE run_id = $1`, run);
    const later = { ...context, now: () => new Date('2026-11-23T10:00:00Z') };
    const again = await planRerun(later, { of: run, states: ['rejected'], account: anAccount() });
    expect(await fields(again)).toEqual([
      { zone: 'Australia/Perth', time: '2026-11-24T09:00' },
      { zone: 'Pacific/Auckland', time: '2026-11-24T09:00' },
    ]);
  });
});

describe('the forecast', () => {
  const rows = Array.from({ length: 40 }, (_, index) => `${mobile(index)},${index},Pacific/Auckland,`);

  test('the end of a run follows from the rate that an operator set and the window', async () => {
    await write(rows, windowed, 'Message: Hi');
    await setRateLimits(opened.ledger.pool, 'sandbox', { requestsPerSecond: 0.01 });
    const previewed = await preview();
    // Twenty requests, one per hundred seconds.
    expect(previewed.forecast).toEqual({
      endsAt: '2026-11-22T20:33:20.000Z',
      limits: { requestsPerSecond: 0.01, recipientsPerSecond: null },
      windows: 1,
      waits: [
        {
          timeZones: ['Pacific/Auckland'],
          until: '2026-11-22T20:00:00.000Z',
          requests: 20,
          recipients: 40,
        },
      ],
      deadline: null,
    });
    expect(previewText(previewed)).toContain(
      '\n  waiting     20 requests (40 recipients) for their window in Pacific/Auckland, until 2026-11-22 20:00 UTC\n  ends        2026-11-22 20:33 UTC, started now, at 0.01 requests a second, in its window\n',
    );
  });

  test('the end of a run with a canary is after its observation, also without a rate', async () => {
    await write(rows, 'canary: { recipients: 1, observe: 2h }');
    const previewed = await preview();
    expect(previewed.forecast).toMatchObject({ endsAt: expect.stringMatching(/^2026-11-2/) });
    expect(previewText(previewed)).toMatch(/^ {2}ends .* or soon after; no rate limit is set$/m);
  });

  test('the end of a run is unknown without a rate and a window', async () => {
    await write(rows, '');
    expect((await preview()).forecast).toMatchObject({ endsAt: null, windows: 0 });
    expect(previewText(await preview())).not.toMatch(/^ {2}ends/m);
  });

  const late =
    '21 recipients would be sent to after 2026-11-23T09:16 Pacific/Auckland, and the last at 2026-11-23T09:33; among them line 41 (+61412000039), line 40 (+61412000038), line 39 (+61412000037).';
  // Less than half of the run is done by then.
  const deadline = `${windowed}\ntimeZone: Pacific/Auckland\ndeadline: 2026-11-23T09:16`;

  test('late recipients are counted with examples, in the preview and when planning', async () => {
    await write(rows, deadline, 'Message: Hi');
    await setRateLimits(opened.ledger.pool, 'sandbox', { requestsPerSecond: 0.01 });
    const previewed = await preview();
    expect(previewed.forecast.deadline).toMatchObject({ late: 21, at: '2026-11-23T09:16' });
    // A screen has one zone for all times.
    const lateInUtc = late
      .replace('2026-11-23T09:16 Pacific/Auckland', '2026-11-22T20:16 UTC')
      .replace('2026-11-23T09:33', '2026-11-22T20:33');
    expect(previewText(previewed)).toContain(`\n  deadline    ${lateInUtc}`);
    expect(previewText(previewed, { ...plainScreen, zone: 'Pacific/Auckland' })).toContain(
      `\n  deadline    ${late}`,
    );
    const reported: PlanFindings[] = [];
    await plan((found) => reported.push(found));
    expect(reported.map(({ forecast }) => forecast)).toEqual([previewed.forecast]);
  });

  test('onDeadline: refuse stops planning when a recipient would be late', async () => {
    await write(rows, `${deadline}\nonDeadline: refuse`, 'Message: Hi');
    await setRateLimits(opened.ledger.pool, 'sandbox', { requestsPerSecond: 0.01 });
    const problem = [`campaign.yaml:9:11: ${late}`];
    expect(await problemsRejected(preview)).toEqual(problem);
    expect(await problemsRejected(plan)).toEqual(problem);
    expect(await query('SELECT FROM runs WHERE run_id <> $1', '')).toEqual([]);
  });

  test('a deadline needs no window', async () => {
    await write(rows, 'timeZone: UTC\ndeadline: 2026-11-20T08:10\nonDeadline: refuse', 'Message: Hi');
    await setRateLimits(opened.ledger.pool, 'sandbox', { recipientsPerSecond: 0.05 });
    const problem = [
      'campaign.yaml:8:11: 10 recipients would be sent to after 2026-11-20T08:10 UTC, and the last at 2026-11-20T08:13; among them line 41 (+61412000039), line 40 (+61412000038), line 39 (+61412000037).',
    ];
    expect(await problemsRejected(preview)).toEqual(problem);
    expect(await problemsRejected(plan)).toEqual(problem);
  });

  test('a deadline with only a time of day means the next one', async () => {
    await write(rows, `${deadline.replace('2026-11-23T09:16', '"09:16"')}`, 'Message: Hi');
    expect((await preview()).forecast.deadline).toMatchObject({ at: '2026-11-21T09:16' });
  });

  test('onDeadline: refuse allows a run without late recipients', async () => {
    await write(rows, `${deadline}\nonDeadline: refuse`, 'Message: Hi');
    await setRateLimits(opened.ledger.pool, 'sandbox', { requestsPerSecond: 10 });
    expect((await preview()).forecast.deadline).toMatchObject({ late: 0, examples: [] });
    expect(previewText(await preview())).toContain(
      '\n  deadline    2026-11-22 20:16 UTC; no recipient would be late\n',
    );
  });

  test('a run of unknown duration is not reported as in time', async () => {
    await write(rows, `${deadline}\nonDeadline: refuse`, 'Message: Hi');
    expect(previewText(await preview())).toContain(
      '\n  deadline    2026-11-22 20:16 UTC; no recipient would be late, if sending took no time: no rate limit is set\n',
    );
  });
});

describe('a SendTime of each row', () => {
  const message = 'Message: Hi, SendTime: "[[when]]", TimeZone: "[[zone|UTC]]"';

  test('a SendTime that is not a time is rejected with line, column and reason', async () => {
    const rows = [
      `${mobile(1)},,,2026-11-24T09:00`,
      `${mobile(2)},,New Zealand,tomorrow`,
      `${mobile(3)},,Pacific/Auckland,2027-09-26T02:30`,
      `${mobile(4)},,Mordor,2026-11-24T09:00`,
    ];
    await write(rows, '', message);
    const { rejected, messages } = await preview();
    expect(rejected.map(({ line, column, detail }) => `${line} ${column}: ${detail}`)).toEqual([
      '3 when: SendTime: expected a date and time such as 2026-11-21T18:30, got "tomorrow".',
      '4 when: SendTime: there is no 2027-09-26T02:30 in Pacific/Auckland: the clocks go forward and skip it',
      '5 zone: TimeZone: expected a time zone such as Pacific/Auckland or AUS Eastern, got "Mordor".',
    ]);
    expect(messages.map(({ fields }) => fields)).toEqual([
      { Message: 'Hi', SendTime: '2026-11-24T09:00', TimeZone: 'UTC' },
    ]);
  });

  test('a SendTime in the past is reported', async () => {
    const rows = [
      // In Perth that was an hour ago; in London and UTC it is still to come.
      `${mobile(1)},,Australia/Perth,2026-11-20T15:00`,
      `${mobile(2)},,Europe/London,2026-11-20T15:00`,
      `${mobile(3)},,UTC,2026-11-20T08:00`,
      `${mobile(4)},,UTC,2026-11-20T07:59`,
    ];
    await write(rows, '', message);
    const previewed = await preview();
    expect(previewed.pastSendTimes).toEqual({
      recipients: 2,
      examples: [
        { fileAndLine: 'line 2', sendTime: '2026-11-20T15:00' },
        { fileAndLine: 'line 5', sendTime: '2026-11-20T07:59' },
      ],
    });
    expect(previewText(previewed)).toContain(
      '\n  SendTime    past or empty for 2 recipients, so the service sends at once: line 2 (2026-11-20T15:00), line 5',
    );
  });

  test('an empty SendTime is reported, because the service sends at once', async () => {
    await write([`${mobile(1)},,UTC,`, `${mobile(2)},,UTC,2026-11-24T09:00`], '', message);
    expect(previewText(await preview())).toContain(
      '\n  SendTime    past or empty for 1 recipient, so the service sends at once: line 2 (empty)\n',
    );
  });

  test('a SendTime without a zone is past when it is past in every zone', async () => {
    const rows = [`${mobile(1)},,,2026-11-19T19:59`, `${mobile(2)},,,2026-11-19T20:01`];
    await write(rows, '', 'Message: Hi, SendTime: "[[when]]"');
    expect((await preview()).pastSendTimes).toMatchObject({
      recipients: 1,
      examples: [{ fileAndLine: 'line 2' }],
    });
  });
});
