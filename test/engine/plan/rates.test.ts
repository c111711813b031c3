import { Big } from 'big.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EngineContext } from '../../../src/engine/context.ts';
import { loadAccount } from '../../../src/engine/load-definition.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import type { Preview } from '../../../src/engine/plan/preview.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import type { Settings } from '../../../src/engine/settings.ts';
import { recordOutcomeChanges } from '../../../src/ledger/billing/changes.ts';
import type { BillingTotal } from '../../../src/ledger/billing/report.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { execute } from '../../support/execute.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { type SendPeer, type SendReply, sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, settingsIn } from '../../support/workspace.ts';

const opened = testLedger();
const workspace = testWorkspace({});
let service: SendPeer;
let reply: SendReply;
let settings: Settings;
beforeAll(async () => {
  service = await sendPeer(() => reply);
  settings = settingsIn(workspace, { VOLLEY_SANDBOX_URL: service.url });
});
beforeEach(() => {
  reply = { kind: 'accepted' };
});
afterAll(() => service[Symbol.asyncDispose]());

async function writeRates(...rates: readonly string[]): Promise<void> {
  const lines = rates.map((rate) => `      - { ${rate}, currency: NZD }\n`).join('');
  await workspace.write(
    'accounts.yaml',
    `${accountsYaml}    ratesTimeZone: Pacific/Auckland\n    rates:${lines === '' ? ' []' : `\n${lines}`}`,
  );
}

/** Every third one has the same ChargeCode; every second one has two parts. */
async function writeCampaign(numbers: readonly string[], more = ''): Promise<void> {
  const rows = numbers.map((number, index) => `${number},C${index % 3},${'x'.repeat(index % 2 ? 200 : 5)}`);
  await workspace.write('contacts.csv', ['mobile,code,text', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: rates
account: sandbox
channel: sms
contacts: { file: contacts.csv, columns: { Recipient: mobile } }
message: { Message: "Hi [[text]]", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 2 }
${more}`,
  );
}

const contextAt = (instant: string): EngineContext => ({ ...opened.context, now: () => new Date(instant) });

async function preview(context: EngineContext): Promise<Preview> {
  return previewCampaign(await prepareCampaign('campaign.yaml', settings), context);
}

async function plan(context: EngineContext): Promise<string> {
  return planRun(context, await prepareCampaign('campaign.yaml', settings, { keeps: 'files' }), {
    again: true,
  });
}

async function send(context: EngineContext, run: string): Promise<BillingTotal> {
  await execute(context, run, await loadAccount('sandbox', settings));
  const { total } = await billingOf(opened.ledger.pool, [run]);
  return total ?? expect.fail('nothing was sent');
}

/** The ledger's copy of a run's rates; the tariffs of each chunk in request order. */
async function readFrozenRates(run: string) {
  const { rows } = await opened.ledger.pool.query<{ rates: unknown; tariffs: readonly (number[] | null)[] }>(
    `SELECT rates, (SELECT json_agg(tariffs ORDER BY request) FROM chunks_between(r.run_id, 1, 2147483647)) AS tariffs
     FROM runs r WHERE run_id = $1`,
    [run],
  );
  return rows[0];
}

const same = (one: string, other: string | null): boolean => new Big(one).eq(other ?? 'NaN');
const always = { tax: null, from: null, until: null };
const numbers = [
  '+64211234567',
  '+64221234567',
  '+61412345678',
  '+15062345678',
  '+12015550123',
  '+4791234567',
];

describe('the estimate of a plan equals the estimate of billing', () => {
  const rates = [
    'channel: sms, unit: part, price: 0.1',
    'channel: sms, unit: part, destination: NZ, price: 0.08, tax: 0.15, until: 2026-09-28',
    'channel: sms, unit: part, destination: NZ, price: 0.085, tax: 0.125, from: 2026-09-28',
    'channel: sms, unit: part, destination: +6421, price: 0.04, tax: 0.15, until: 2026-09-28',
    'channel: sms, unit: part, destination: +6421, price: 0.045, tax: 0.15, from: 2026-09-28',
    'channel: sms, unit: part, destination: CA, price: 0.007',
  ];

  // That day has 23 hours in Auckland.
  test.each([
    ['before', '2026-09-27T10:59:59.000Z', '0.614', '0.03'],
    ['after', '2026-09-27T11:00:00.000Z', '0.629', '0.028'],
  ])(
    'plan and billing estimate the same cost %s prices change at local midnight',
    async (_, instant, cost, tax) => {
      await writeRates(...rates);
      await writeCampaign(numbers);
      const context = contextAt(instant);
      const estimate = (await preview(context)).cost;
      const total = await send(context, await plan(context));
      expect(total).toMatchObject({ accepted: 6, unrated: 0, currency: 'NZD' });
      if (estimate.kind === 'unknown') expect.fail(estimate.why);
      expect([same(total.estimated, estimate.total), same(total.estimatedTax, estimate.tax)]).toEqual([
        true,
        true,
      ]);
      expect([estimate.total, estimate.tax]).toEqual([cost, tax]);
    },
  );

  test('each request is estimated by the rates at its own time', async () => {
    await writeRates(
      'channel: sms, unit: part, price: 1, until: 2026-09-28',
      'channel: sms, unit: part, price: 10, from: 2026-09-28',
    );
    await writeCampaign(['+64211234567', '+64211234568', '+64211234569']);
    const run = await plan(contextAt('2026-09-27T10:00:00Z'));
    await accept(run, 1, '2026-09-27T10:59:59.999Z');
    await accept(run, 2, '2026-09-27T11:00:00Z', 2);
    // One part before midnight; two requests after it, with two parts and one.
    const { total } = await billingOf(opened.ledger.pool, [run]);
    expect([total?.accepted, total?.estimated]).toEqual([3, '31']);
  });
});

const owner = '00000000-0000-4000-8000-000000000001';

/** Sends requests of a run, starting at this number. */
async function accept(run: string, request: number, instant: string, requests = 1): Promise<void> {
  const { pool } = opened.ledger;
  const now = new Date(instant);
  await claimRequests(pool, { run, owner, limit: requests, now });
  const outcome = { attempt: 1, finishedAt: now, httpStatus: 200, detail: null, state: 'accepted' } as const;
  const settled = Array.from({ length: requests }, (_, index) => ({ ...outcome, request: request + index }));
  expect(await settleRequests(pool, run, owner, settled)).toHaveLength(requests);
}

describe('the frozen rates of a run', () => {
  test('an account without rates for the channel freezes none', async () => {
    await writeRates('channel: fax, unit: page, price: 1');
    await writeCampaign(numbers.slice(0, 2));
    expect(await readFrozenRates(await plan(opened.context))).toEqual({ rates: null, tariffs: [null, null] });
  });

  test('rates that apply everywhere freeze one tariff', async () => {
    await writeRates('channel: sms, unit: part, price: 0.10, tax: 0.15, from: 2026-09-28');
    await writeCampaign(numbers.slice(0, 2));
    expect(await readFrozenRates(await plan(opened.context))).toEqual({
      rates: {
        currency: 'NZD',
        tariffs: [[{ price: '0.10', tax: '0.15', from: '2026-09-27T11:00:00Z', until: null }]],
      },
      tariffs: [null, null],
    });
  });

  test('recipients of one country freeze one tariff', async () => {
    await writeRates(
      'channel: sms, unit: part, price: 1',
      'channel: sms, unit: part, destination: NZ, price: 2',
    );
    await writeCampaign(numbers.slice(0, 2));
    expect(await readFrozenRates(await plan(opened.context))).toEqual({
      rates: { currency: 'NZD', tariffs: [[{ ...always, price: '2' }]] },
      tariffs: [null, null],
    });
  });

  test("only the tariffs of the run's recipients are frozen", async () => {
    await writeRates(
      'channel: sms, unit: part, destination: NO, price: 3',
      'channel: sms, unit: part, destination: FR, price: 4',
      'channel: sms, unit: part, destination: NZ, price: 2',
    );
    // Every third one shares a ChargeCode, and so requests.
    await writeCampaign([
      ...numbers.slice(0, 3),
      '+4791234567',
      ...numbers.slice(3, 4),
      '+4791234568',
      '+64211234568',
    ]);
    expect(await readFrozenRates(await plan(opened.context))).toEqual({
      rates: {
        currency: 'NZD',
        tariffs: [[{ ...always, price: '2' }], [], [{ ...always, price: '3' }]],
      },
      tariffs: [[0, 2], [0], [0, 1], [1, 2]],
    });
  });
});

describe('recipients without a rate', () => {
  beforeEach(() =>
    writeRates(
      'channel: sms, unit: part, destination: NZ, price: 2',
      'channel: sms, unit: part, destination: AU, price: 2, until: 2026-09-28',
    ),
  );

  test('recipients without a rate make the cost unknown, and plan and run report their number and one example', async () => {
    await writeCampaign(numbers, 'budget: { campaign: 100 }');
    const problem =
      'campaign.yaml:7:9: A budget needs an estimated cost, and there is none: 4 recipients have no rate for sms that is valid now, such as +12015550123. Add it to its "rates", or remove "budget".';
    expect(await problemsRejected(() => preview(contextAt('2026-10-01T00:00:00Z')))).toEqual([problem]);
    expect(await problemsRejected(() => plan(contextAt('2026-10-01T00:00:00Z')))).toEqual([problem]);
  });

  test('sent recipients without a rate are counted as unrated', async () => {
    await writeCampaign(numbers);
    const context = contextAt('2026-09-01T00:00:00Z');
    expect(await send(context, await plan(context))).toMatchObject({
      accepted: 6,
      unrated: 3,
      estimated: '8',
    });
  });
});

test("a rerun is estimated and checked against its budget by today's rates", async () => {
  await writeRates('channel: sms, unit: part, price: 1');
  await writeCampaign(numbers, 'budget: { campaign: 9 }');
  reply = { kind: 'rejected', words: 'no' };
  const run = await plan(opened.context);
  await send(opened.context, run);
  const again = async () =>
    planRerun(opened.context, {
      of: run,
      states: ['rejected'],
      account: await loadAccount('sandbox', settings),
    });

  await writeRates(
    'channel: sms, unit: part, price: 1',
    'channel: sms, unit: part, destination: CA, price: 2',
  );
  expect(await problemsRejected(again)).toEqual([
    `run ${run}, budget.campaign: The budget of the campaign is 9.00 NZD; this plan would cost 11.00 NZD.`,
  ]);

  await writeRates(
    'channel: sms, unit: part, price: 0.5',
    'channel: sms, unit: part, destination: CA, price: 2',
  );
  const rerun = await again();
  expect(await readFrozenRates(rerun)).toMatchObject({
    rates: { tariffs: [[{ price: '0.5' }], [{ price: '2' }]] },
    tariffs: [
      [0, 1],
      [0, 0],
      [0, 0],
    ],
  });
  reply = { kind: 'accepted' };
  // Two parts to Canada, seven elsewhere.
  expect((await send(opened.context, rerun)).estimated).toBe('7.5');
});

test("a call is estimated by its reported seconds and its recipient's tariff", async () => {
  const period = { tax: '0.1', from: null, until: null };
  const rates = {
    currency: 'NZD',
    tariffs: [[{ ...period, price: '0.01' }], [{ ...period, price: '0.5' }], []],
  };
  const { ledger } = opened;
  const run = await planContacts(
    ledger,
    aRun({ channel: 'voice', chunkSize: 10, rates }),
    [2, 3, 4, 5].map((line) => aContact(line)),
    { tariffOf: (address) => Math.min(2, Number(address.at(-1)) - 2) },
  );
  await accept(run, 1, '2026-09-27T10:00:00Z');
  expect((await billingOf(ledger.pool, [run])).total).toMatchObject({ estimated: '0', unrated: 2 });

  await ledger.pool.query(
    `WITH outcome AS (
       INSERT INTO recipient_outcomes (run_id, request, position, outcome, units, price, reported_at)
       SELECT $1, 1, position, 'delivered', units, 0.25, now()
       FROM unnest('{1, 2, 3}'::integer[], '{30, 7, 60}'::numeric[]) AS outcome (position, units)
       RETURNING *
     )
     ${recordOutcomeChanges('SELECT 1 AS sign, * FROM outcome')}`,
    [run],
  );
  const { total } = await billingOf(ledger.pool, [run]);
  expect(total).toMatchObject({ delivered: 3, voiceSeconds: '97', price: '0.75', unrated: 2 });
  expect([same('3.80', total?.estimated ?? null), same('0.38', total?.estimatedTax ?? null)]).toEqual([
    true,
    true,
  ]);
});
