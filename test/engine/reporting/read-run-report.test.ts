import { beforeAll, describe, expect, test } from 'vitest';
import type { RunDetails } from '../../../src/report/run/run-details.ts';
import { billingOf } from '../../support/billing.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { detailsOf, planReportableRun } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
let details: RunDetails;
beforeAll(async () => {
  run = await planReportableRun(opened.context);
  details = await detailsOf(opened.context, run, 'Pacific/Auckland');
});

describe('readRunReport', () => {
  test('the timeline has planning, start, pause with reason, resumption and end, in this order', () => {
    expect(details.timeline.map(({ what, reason }) => (reason ? `${what}: ${reason}` : what))).toEqual([
      'planned',
      'begun',
      'first request sent',
      'paused: the credential was refused',
      'resumed',
      'last request sent',
      'completed',
    ]);
    expect(details.timeline[3]?.at).toEqual(new Date('2026-09-26T13:01:30Z'));
  });

  test('the first and the last request have the times of their attempts', () => {
    expect(details.sending).toMatchObject({
      firstAt: new Date('2026-09-26T13:00:00Z'),
      lastAt: new Date('2026-09-26T13:02:00Z'),
    });
  });

  test('sends are counted by local minute, with retries apart', () => {
    expect([details.sending.unit, details.sending.sends]).toEqual([
      'minute',
      [
        { at: '2026-09-27T01:00', requests: 2, recipients: 4, retries: 0 },
        { at: '2026-09-27T01:01', requests: 2, recipients: 4, retries: 0 },
        { at: '2026-09-27T01:02', requests: 0, recipients: 0, retries: 1 },
      ],
    ]);
  });

  test('attempts are counted by their results', () => {
    expect(details.sending).toMatchObject({ attempts: 5, retries: 1, retried: 1 });
    expect(details.sending.ends).toEqual([
      { verdict: 'accepted', httpStatus: 200, attempts: 3 },
      { verdict: 'in_doubt', httpStatus: 200, attempts: 1 },
      { verdict: 'rejected', httpStatus: 200, attempts: 1 },
    ]);
  });

  test('the slowest attempts have their MessageIDs, and answer times are summarised', async () => {
    const { slowest, answerTimes } = details.sending;
    expect(slowest.map(({ request, attempt, milliseconds }) => [request, attempt, milliseconds])).toEqual([
      [4, 2, 240],
      [4, 1, 140],
      [3, 1, 130],
      [2, 1, 120],
      [1, 1, 110],
    ]);
    expect(slowest[2]).toMatchObject({ httpStatus: 200, verdict: 'rejected', state: 'rejected' });
    const { rows } = await opened.ledger.pool.query(
      'SELECT message_id FROM request_states WHERE request = 4',
    );
    expect(slowest[0]?.messageId).toBe(rows[0]?.message_id);
    expect(answerTimes).toEqual({ answered: 5, median: 130, p95: 240, p99: 240 });
  });

  test('delivery reports that contradict the decided outcome are listed', () => {
    expect(details.conflicts).toMatchObject({ reports: 1, recipients: 1 });
    expect(details.conflicts.listed).toMatchObject([{ decided: 'delivered', outcome: 'undelivered' }]);
  });

  test("failures are grouped by the service's words", () => {
    expect(details.failures).toEqual([
      { state: 'rejected', reason: 'of the service', requests: 1, recipients: 2 },
    ]);
  });

  test("costs are those of the billing report, in the run's currency", async () => {
    const { total } = await billingOf(opened.ledger.pool, [run]);
    const { bySubAccount, byChargeCode, ...figures } = details.money ?? expect.fail('there is no money');
    expect(total).toMatchObject({ ...figures });
    expect(figures).toMatchObject({ currency: 'NZD', price: '0.2', estimatedTax: expect.any(String) });
    expect(bySubAccount.lines.map(({ value, accepted }) => [value, accepted])).toEqual([
      ['North', 4],
      [null, 2],
    ]);
    expect(byChargeCode.lines.map(({ value, price }) => [value, price])).toEqual([
      ['A-1', '0.2'],
      [null, '0'],
    ]);
  });
});

test('sends over hours are counted by hour, without the hour that the clock skips', async () => {
  const { pool } = opened.ledger;
  await pool.query(`UPDATE attempts SET started_at = started_at + interval '1 hour' WHERE request > 2`);
  const { sending } = await detailsOf(opened.context, run, 'Pacific/Auckland');
  expect([sending.unit, sending.sends.map(({ at }) => at)]).toEqual([
    'hour',
    ['2026-09-27T01', '2026-09-27T03'],
  ]);
});

test('sends of less than two minutes are counted by second', async () => {
  const { pool } = opened.ledger;
  await pool.query(
    `UPDATE attempts SET started_at = timestamptz '2026-09-26T13:59:57.999Z' + (request + attempt) * interval '1 second'`,
  );
  const { sending } = await detailsOf(opened.context, run, 'Pacific/Auckland');
  expect([sending.unit, sending.sends]).toEqual([
    'second',
    [
      { at: '2026-09-27T01:59:59', requests: 1, recipients: 2, retries: 0 },
      { at: '2026-09-27T03:00:00', requests: 1, recipients: 2, retries: 0 },
      { at: '2026-09-27T03:00:01', requests: 1, recipients: 2, retries: 0 },
      { at: '2026-09-27T03:00:02', requests: 1, recipients: 2, retries: 0 },
      { at: '2026-09-27T03:00:03', requests: 0, recipients: 0, retries: 1 },
    ],
  ]);
});

test('a run that was never sent has only its plan', async () => {
  const unsent = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  const { sending, money } = await detailsOf(opened.context, unsent);
  expect(sending).toMatchObject({ firstAt: null, attempts: 0, sends: [], slowest: [] });
  expect(sending.answerTimes).toEqual({ answered: 0, median: null, p95: null, p99: null });
  expect(money).not.toBeUndefined();
});

test('a missing run is an input error', async () => {
  await expect(detailsOf(opened.context, 'none')).rejects.toThrow('There is no such run');
});
