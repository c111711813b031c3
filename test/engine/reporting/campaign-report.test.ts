import { Big } from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookBilling } from '../../../src/engine/billing/billing.ts';
import { reportCampaigns } from '../../../src/engine/reporting/streamed-reports.ts';
import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  streamCampaignRuns,
  sumCampaignRuns,
} from '../../../src/ledger/billing/run-costs.ts';
import { markBegun, markCompleted } from '../../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { billingOf } from '../../support/billing.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performStep } from '../../support/billing-world.ts';
import { collectBatches } from '../../support/collect.ts';
import { examples } from '../../support/examples.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const all: CampaignQuery = { campaigns: [], from: null, until: null, timeZone: 'UTC' };

function report(
  query: Partial<CampaignQuery> = {},
): Promise<{ readonly runs: readonly CampaignRun[]; readonly sums: readonly RunFigures[] }> {
  return reportCampaigns(opened.context, { ...all, ...query }, async ({ runs, sums }) => ({
    runs: await collectBatches(runs),
    sums,
  }));
}

/** As reporting does it for what is not booked yet. */
const countUnbooked = () =>
  inTransaction(opened.ledger.pool, async (client) => ({
    runs: await collectBatches(streamCampaignRuns(client, all)),
    sums: await sumCampaignRuns(client, all),
  }));

/** A run planned at this time. */
const planRunAt = (campaign: string, createdAt: string): Promise<string> =>
  planContacts(opened.ledger, aRun({ campaign, createdAt: new Date(createdAt) }), [aContact(2)]);

test('every run has the figures of the billing report by run', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    for (const step of history) await performStep(world, step);
    const { runs, sums } = await countUnbooked();
    const { lines } = await billingOf(opened.ledger.pool, world.runs, ['run']);
    expect(runs).toHaveLength(world.runs.length);
    const billed = new Map(lines.map((line) => [line.values[0], line]));
    const compared = ['requests', 'recipients', 'accepted', 'delivered', 'undelivered', 'failed', 'unknown'];
    for (const run of runs) {
      const line = billed.get(run.run);
      const figures = (of: object | undefined) =>
        compared.map((key) => Number(new Map(Object.entries(of ?? {})).get(key) ?? 0));
      expect(figures(run)).toEqual(figures(line));
      for (const key of ['price', 'estimated'] as const)
        expect(new Big(run[key]).toFixed()).toBe(new Big(line?.[key] ?? 0).toFixed());
    }
    for (const sum of sums) {
      const same = runs.filter(({ currency }) => currency === sum.currency);
      expect(sum.accepted).toBe(same.reduce((total, { accepted }) => total + accepted, 0));
      const price = same.reduce((total, run) => total.plus(run.price), new Big(0));
      expect(new Big(sum.price).toFixed()).toBe(price.toFixed());
    }
  });
  await fc.assert(property, examples(4));
});

test("corrections of closed months are part of their run's figures", async () => {
  const world = await createWorld(opened.ledger, '2026-11-03T00:00:00Z');
  const price = { units: '1', price: '0.1' } as const;
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 2,
    chunkSize: 2,
    rates: null,
  });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  // What is booked when the month closes belongs to that month.
  await bookBilling(opened.context);
  await opened.ledger.pool.query(
    `INSERT INTO billing_closings VALUES ('2026-11', 'UTC', '2026-11-01Z', '2026-12-01Z', '2026-12-02Z', 'ann')`,
  );
  await performStep(world, { kind: 'report', reports: [{ recipient: 0, outcome: 'delivered', ...price }] });
  expect((await billingOf(opened.ledger.pool, world.runs, ['run'])).lines).toHaveLength(2);
  expect((await report()).runs).toMatchObject([{ accepted: 2, delivered: 1, price: '0.1' }]);
  await createWorld(opened.ledger, '2026-11-03T00:00:00Z');
});

test('runs of the named campaigns and local days are listed, newest first', async () => {
  await createWorld(opened.ledger, '2026-11-03T00:00:00Z');
  const before = await planRunAt('outage', '2026-10-31T10:59:59Z');
  const early = await planRunAt('outage', '2026-10-31T11:00:00Z');
  const other = await planRunAt('bills', '2026-11-01T00:00:00Z');
  const late = await planRunAt('outage', '2026-11-02T10:59:59Z');
  const after = await planRunAt('outage', '2026-11-02T11:00:00Z');
  const runsOf = async (query: Partial<CampaignQuery>) => (await report(query)).runs.map(({ run }) => run);
  expect(await runsOf({})).toEqual([after, late, other, early, before]);
  expect(await runsOf({ campaigns: ['outage'] })).toEqual([after, late, early, before]);
  const days = { from: '2026-11-01T00:00', until: '2026-11-03T00:00', timeZone: 'Pacific/Auckland' };
  expect(await runsOf(days)).toEqual([late, other, early]);
});

test('the duration of a run is the time from its start to its end, and unknown before the end', async () => {
  await createWorld(opened.ledger, '2026-11-03T00:00:00Z');
  const { pool } = opened.ledger;
  const run = await planRunAt('outage', '2026-11-03T00:00:00Z');
  expect((await report()).runs).toMatchObject([
    { state: 'planned', begunAt: null, finishedAt: null, seconds: null, contactsRead: 1, contactsLeftOut: 0 },
  ]);
  await inTransaction(pool, (client) => markBegun(client, run));
  await pool.query(`UPDATE run_states SET changed_at = '2026-11-03T00:00:10Z' WHERE state = 'running'`);
  await inTransaction(pool, (client) => markCompleted(client, run, new Date('2026-11-03T00:00:14Z')));
  await createRequestRows(pool, run);
  await pool.query(`UPDATE requests SET state = 'accepted', attempts = 1`);
  await pool.query(
    `INSERT INTO attempts (run_id, request, attempt, owner, started_at) VALUES ($1, 1, 1, gen_random_uuid(), now())`,
    [run],
  );
  expect((await report()).runs).toMatchObject([
    { begunAt: new Date('2026-11-03T00:00:10Z'), seconds: '4.0', requests: 1, requestsPerSecond: '0.3' },
  ]);
});

test('a campaign without runs is an input error', async () => {
  await expect(report({ campaigns: ['outrage'] })).rejects.toThrow(
    'campaign outrage: There is no run of this campaign. Did you mean "outage"?',
  );
});
