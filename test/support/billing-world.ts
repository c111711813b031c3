import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Channel } from '../../src/domain/message.ts';
import type { RunRates } from '../../src/domain/rates.ts';
import type { Resolution } from '../../src/domain/runs.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { applyReports } from '../../src/ledger/delivery-reports/apply.ts';
import type { InboxReport, Reading } from '../../src/ledger/delivery-reports/reading.ts';
import { receiveReports } from '../../src/ledger/delivery-reports/receive.ts';
import { replayReports } from '../../src/ledger/delivery-reports/replay.ts';
import { resolveRequests } from '../../src/ledger/requests/resolve.ts';
import { markResumed } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { claimRequests, doubtUnrecorded, settleRequests } from './claims.ts';
import { emptyLedger } from './empty-ledger.ts';
import { aContact, anEnvelope, aRun, planContacts } from './ledger.ts';
import { startNextAttempt } from './requests.ts';

/** Random histories of runs and their delivery reports, for the properties of billing. */

const name = (key: string, ...names: string[]) =>
  fc.constantFrom<Record<string, string>>({}, ...names.map((value) => ({ [key]: value })));
const payer = fc
  .tuple(
    name('SubAccount', 'North', 'South'),
    name('Department', 'Works'),
    name('ChargeCode', 'A-1', 'B-2', 'C-3'),
  )
  .map((named): Record<string, string> => Object.assign({}, ...named));

const price = fc.option(fc.constantFrom('0.08', '0.1', '1.005', '0.00000001'), { nil: null });
const units = fc.option(fc.constantFrom('1', '2', '3.5'), { nil: null });

/** Prices change at local midnight in Auckland, on the day daylight saving begins. */
const changeOfPrice = '2026-09-26T12:00:00Z';
const rates = fc.constantFrom<RunRates | null>(
  null,
  { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]] },
  {
    currency: 'AUD',
    tariffs: [
      [
        { price: '0.1', tax: null, from: null, until: changeOfPrice },
        { price: '0.12', tax: '0.1', from: changeOfPrice, until: null },
      ],
    ],
  },
  {
    currency: 'NZD',
    tariffs: [
      [{ price: '0.08', tax: '0.15', from: null, until: null }],
      [],
      [{ price: '1.5', tax: null, from: changeOfPrice, until: null }],
    ],
  },
);

/** Whose tariff is whose: by the last digit of the address. */
function tariffReader({ tariffs }: RunRates): ((address: string) => number) | null {
  return tariffs.length > 1 ? (address) => Number(address.at(-1)) % tariffs.length : null;
}

type SentEnd = 'accepted' | 'rejected' | 'failed' | 'in_doubt' | 'lost';

const step = fc.oneof(
  fc.record({
    kind: fc.constant('plan' as const),
    channel: fc.constantFrom<Channel>('sms', 'email', 'fax', 'voice', 'tts'),
    payers: fc.array(payer, { minLength: 1, maxLength: 3 }),
    contacts: fc.integer({ min: 1, max: 7 }),
    chunkSize: fc.integer({ min: 1, max: 3 }),
    rates,
  }),
  fc.record({
    kind: fc.constant('wait' as const),
    minutes: fc.constantFrom(1, 7, 29, 60, 24 * 60, 29 * 24 * 60),
  }),
  fc.record({
    kind: fc.constant('send' as const),
    run: fc.nat(5),
    requests: fc.integer({ min: 1, max: 4 }),
    ends: fc.array(
      fc.constantFrom<SentEnd>('accepted', 'accepted', 'accepted', 'rejected', 'failed', 'in_doubt', 'lost'),
      {
        minLength: 4,
        maxLength: 4,
      },
    ),
  }),
  fc.record({
    kind: fc.constant('report' as const),
    reports: fc.array(
      fc.record({
        recipient: fc.nat(40),
        outcome: fc.constantFrom<ReportedDelivery['outcome']>(
          'delivered',
          'delivered',
          'undelivered',
          'pending',
        ),
        price,
        units,
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  fc.record({
    kind: fc.constant('resolve' as const),
    run: fc.nat(5),
    resolution: fc.constantFrom<Resolution>('accepted', 'abandon', 'resend'),
  }),
  fc.record({ kind: fc.constant('suppress' as const), line: fc.integer({ min: 2, max: 8 }) }),
  fc.record({ kind: fc.constantFrom('doubt' as const, 'retry' as const), run: fc.nat(5) }),
  fc.record({ kind: fc.constantFrom('replay' as const, 'book' as const, 'close' as const) }),
);
export type BillingStep = typeof step extends fc.Arbitrary<infer Step> ? Step : never;

export const steps = fc.array(step, { minLength: 5, maxLength: 30 });

/** The day before daylight saving begins in Auckland, and the day before it ends. */
export const beginnings = fc.constantFrom(
  '2026-09-26T11:40:00Z',
  '2027-04-03T10:45:00Z',
  '2026-11-30T10:59:00Z',
);

export type World = {
  readonly ledger: Ledger;
  readonly runs: string[];
  now: Date;
};

export async function emptyWorld(ledger: Ledger, begin: string): Promise<World> {
  await emptyLedger(ledger.pool);
  return { ledger, runs: [], now: new Date(begin) };
}

const owner = '00000000-0000-4000-8000-000000000001';

/** As `take`, a millisecond later: nobody says two things of a request in the same one. */
export async function takeNext(world: World, step: BillingStep): Promise<void> {
  world.now = new Date(world.now.getTime() + 1);
  await take(world, step);
}

/** What steps do but for booking and closing. */
export async function take(world: World, step: BillingStep): Promise<void> {
  const { ledger, runs, now } = world;
  const { pool } = ledger;
  const runOf = (place: number): string | undefined => runs[place % Math.max(runs.length, 1)];
  switch (step.kind) {
    case 'plan': {
      const { channel, payers, contacts, chunkSize, rates } = step;
      const run = aRun({ channel, chunkSize, rates, createdAt: now });
      const rows = Array.from({ length: contacts }, (_, place) => {
        const envelope = anEnvelope({ Message: 'Hello', ...payers[place % payers.length] });
        return aContact(place + 2, { envelope });
      });
      const parts = channel === 'sms' ? () => 2 : () => null;
      runs.push(await planContacts(ledger, run, rows, parts, rates && tariffReader(rates)));
      return;
    }
    case 'wait':
      world.now = new Date(now.getTime() + step.minutes * 60_000);
      return;
    case 'send': {
      const run = runOf(step.run);
      if (run === undefined) return;
      const { claimed } = await claimRequests(pool, { run, owner, limit: step.requests, now });
      for (const [place, { request, attempt }] of claimed.entries()) {
        const state = step.ends[place];
        if (state === undefined || state === 'lost') continue;
        const settlement = { request, attempt, finishedAt: now, httpStatus: null, detail: 'words' };
        await settleRequests(pool, run, owner, [{ ...settlement, state }]);
      }
      return;
    }
    case 'report':
      await receive(world, step.reports);
      return;
    case 'replay':
      await replayReports(pool, { all: true }, now);
      await applyReports(pool, 100, read, now);
      return;
    case 'resolve': {
      const run = runOf(step.run);
      if (run === undefined) return;
      await inTransaction(pool, (client) =>
        resolveRequests(client, {
          run,
          requests: 'all',
          resolution: step.resolution,
          by: 'ann',
          reason: 'seen',
          now,
        }),
      );
      await inTransaction(pool, (client) => markResumed(client, run));
      return;
    }
    case 'doubt': {
      const run = runOf(step.run);
      if (run !== undefined) await doubtUnrecorded(pool, run, now);
      return;
    }
    case 'retry': {
      const run = runOf(step.run);
      if (run === undefined) return;
      const { rows } = await pool.query<{ request: number; attempt: number }>(
        `SELECT request, attempts AS attempt FROM request_states WHERE run_id = $1 AND state = 'sending' ORDER BY request`,
        [run],
      );
      const told = { run, owner, httpStatus: 503, detail: 'busy', finishedAt: now, now };
      for (const sending of rows) await startNextAttempt(pool, { ...told, ...sending });
      return;
    }
    case 'suppress':
      await addSuppressions(pool, [
        {
          channel: 'sms',
          address: addressOf(step.line),
          subAccount: '',
          reason: 'asked',
          source: 'operator',
          createdAt: now,
        },
      ]);
      return;
    case 'book':
    case 'close':
  }
}

function addressOf(line: number): string {
  const contact = aContact(line);
  return contact.kind === 'contact' ? contact.address : '';
}

/** What the body of a report says, in these tests. */
export type ReportedDelivery = {
  readonly messageId: string;
  readonly address: string;
  readonly outcome: 'delivered' | 'undelivered' | 'pending';
  readonly units: string | null;
  readonly price: string | null;
};

type Drawn = Pick<ReportedDelivery, 'outcome' | 'units' | 'price'> & { readonly recipient: number };

/** Reports of recipients whose request was tried; the service knows no other. */
async function receive({ ledger, now }: World, drawn: readonly Drawn[]): Promise<void> {
  const { pool } = ledger;
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    `
    SELECT message_id AS "messageId", address
    FROM request_states q
    CROSS JOIN LATERAL recipients_between(q.run_id, q.request, q.request)
    WHERE attempts > 0 AND state <> 'cancelled'
    ORDER BY q.run_id, q.request, address
    `,
  );
  if (rows.length === 0) return;
  const said = drawn.flatMap(({ recipient, ...others }): ReportedDelivery[] => {
    const whom = rows[recipient % rows.length];
    return whom ? [{ ...whom, ...others }] : [];
  });
  const call = {
    account: 'sandbox',
    method: 'POST',
    contentType: 'test',
    headers: {},
    receivedAt: now,
  } as const;
  await receiveReports(
    pool,
    randomUUID(),
    said.map((delivery) => ({ ...call, body: Buffer.from(JSON.stringify(delivery)) })),
  );
  await applyReports(pool, 3, read, now);
  await applyReports(pool, 100, read, now);
}

function read({ body }: InboxReport): Reading {
  const said: ReportedDelivery = JSON.parse(body.toString());
  return {
    kind: 'delivery',
    ...said,
    status: said.outcome,
    result: null,
    sentAt: null,
    jobNumber: null,
    unread: null,
    optedOut: false,
  };
}
