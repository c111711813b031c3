import { describe, expect, test } from 'vitest';
import type { PlannedCanary } from '../../../src/ledger/planning/canary.ts';
import type { PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import type { PlanWindow } from '../../../src/ledger/planning/windows.ts';
import { divideRequests } from '../../../src/ledger/requests/divide.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

type Recipient = {
  readonly line: number;
  readonly request: number;
  readonly isCanary: boolean;
  readonly state: string;
};

async function recipientsOf(run: string): Promise<readonly Recipient[]> {
  const { rows } = await opened.ledger.pool.query<Recipient>(
    `SELECT r.line, r.request, s.is_canary AS "isCanary", s.state
     FROM slices s
     CROSS JOIN LATERAL recipients_between(s.run_id, s.first_request, s.last_request) r
     WHERE s.run_id = $1 AND s.phase = 'sending'
     ORDER BY r.request, r.position`,
    [run],
  );
  return rows;
}

const linesOfCanary = async (run: string): Promise<readonly number[]> =>
  (await recipientsOf(run)).filter(({ isCanary }) => isCanary).map(({ line }) => line);

type Person = { readonly subAccount: string; readonly chargeCode: string; readonly address: string };

/** One line for each; equal payers share an envelope. */
async function plan(
  people: readonly Person[],
  changes: Partial<PlannedRun> = {},
): Promise<{ readonly run: string; readonly planned: PlannedCanary | null }> {
  const envelopes = new Map<string, ReturnType<typeof anEnvelope>>();
  const contacts = people.map(({ subAccount, chargeCode, address }, index) => {
    const payer = `${subAccount} ${chargeCode}`;
    const envelope =
      envelopes.get(payer) ??
      anEnvelope({ Message: 'Hello', SubAccount: subAccount, ChargeCode: chargeCode });
    envelopes.set(payer, envelope);
    return aContact(index + 2, { address, envelope });
  });
  let planned: PlannedCanary | null = null;
  const run = await planContacts(
    opened.ledger,
    aRun({
      checkPlan: async (_, { canary }) => {
        planned = canary;
      },
      ...changes,
    }),
    contacts,
  );
  return { run, planned };
}

const share = (part: number, campaign = 'test') => ({
  canary: { campaign, size: { kind: 'share', share: part } as const },
});
const number = (recipients: number) => ({
  canary: { campaign: 'test', size: { kind: 'number', recipients } as const },
});

const phone = (prefix: string, index: number) => `${prefix}${String(index).padStart(6, '0')}`;
const people = (count: number): Person[] =>
  Array.from({ length: count }, (_, index) => ({
    subAccount: 'North',
    chargeCode: 'C1',
    address: phone('+61412', index),
  }));

describe('the canary of a run', () => {
  test('has a share of the recipients, numbered first, and the other slices wait for its promotion', async () => {
    const { run, planned } = await plan(people(200), { ...share(0.1), chunkSize: 6 });
    const recipients = await recipientsOf(run);
    const canary = recipients.filter(({ isCanary }) => isCanary);
    expect(planned).toEqual({ recipients: 20, requests: 4, ranges: [{ first: 1, last: 4 }] });
    expect(canary).toHaveLength(20);
    expect(new Set(canary.map(({ request }) => request))).toEqual(new Set([1, 2, 3, 4]));
    expect(new Set(canary.map(({ state }) => state))).toEqual(new Set(['waiting']));
    expect(recipients).toHaveLength(200);
    expect(new Set(recipients.map(({ line }) => line)).size).toBe(200);
    const rest = recipients.filter(({ isCanary }) => !isCanary);
    expect(new Set(rest.map(({ state }) => state))).toEqual(new Set(['unpromoted']));
    expect(Math.min(...rest.map(({ request }) => request))).toBe(5);
  });

  test('does not count as different contents', async () => {
    let found = 0;
    const checkPlan: PlannedRun['checkPlan'] = async (_, { envelopes }) => {
      found = envelopes;
    };
    await plan(people(200), { ...share(0.1), checkPlan });
    expect(found).toBe(1);
  });

  test('is spread over SubAccounts, ChargeCodes and destinations in their proportions', async () => {
    const groups = [
      ['North', 'C1', '+61412', 400],
      ['North', 'C2', '+61412', 200],
      ['South', 'C1', '+61412', 200],
      ['South', 'C1', '+64211', 200],
    ] as const;
    const all = groups.flatMap(([subAccount, chargeCode, prefix, count], group) =>
      Array.from({ length: count }, (_, index) => ({
        subAccount,
        chargeCode,
        address: phone(prefix, group * 1_000 + index),
      })),
    );
    // In no order of groups.
    const shuffled = all.toSorted(
      (one, other) => Number(one.address.slice(-3)) - Number(other.address.slice(-3)),
    );
    const { run } = await plan(shuffled, share(0.05));
    const chosen = (await linesOfCanary(run)).map((line) => shuffled[line - 2]);
    const counts = groups.map(
      ([subAccount, chargeCode, prefix]) =>
        chosen.filter(
          (each) =>
            each?.subAccount === subAccount &&
            each.chargeCode === chargeCode &&
            each.address.startsWith(prefix),
        ).length,
    );
    expect(counts).toEqual([20, 10, 10, 10]);
  });

  test('is not the first rows of the file, is selected again for the same campaign, and otherwise for another one', async () => {
    const [one, again, other] = await Promise.all(
      ['test', 'test', 'other'].map(async (campaign) =>
        linesOfCanary((await plan(people(300), share(0.1, campaign))).run),
      ),
    );
    expect(one).toHaveLength(30);
    expect(Math.max(...(one ?? []))).toBeGreaterThan(150);
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });

  test('has as many recipients as its campaign says, where each has a text of its own', async () => {
    const contacts = Array.from({ length: 50 }, (_, index) =>
      aContact(index + 2, { envelope: anEnvelope({ Message: `Hello ${index}` }) }),
    );
    const run = await planContacts(opened.ledger, aRun(number(7)), contacts);
    const canary = (await recipientsOf(run)).filter(({ isCanary }) => isCanary);
    expect(canary.map(({ request }) => request)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('as large as the list is none: nothing would wait for it', async () => {
    for (const size of [number(20), number(21), share(1)]) {
      const { run, planned } = await plan(people(20), size);
      expect(planned).toBeNull();
      const recipients = await recipientsOf(run);
      expect(new Set(recipients.map(({ state, isCanary }) => `${state} ${isCanary}`))).toEqual(
        new Set(['waiting false']),
      );
    }
  });

  test('has a part in each window, which is numbered first there', async () => {
    const contacts = Array.from({ length: 40 }, (_, index) =>
      aContact(index + 2, { zones: index % 2 === 0 ? 'A' : 'B' }),
    );
    const window: PlanWindow = ([zone]) => ({
      opensAt: zone === 'B' ? new Date('2026-11-23T09:00Z') : null,
      closesAt: null,
      handover: null,
    });
    let planned: PlannedCanary | null = null;
    const run = await planContacts(
      opened.ledger,
      aRun({
        ...share(0.2),
        window,
        chunkSize: 1,
        checkPlan: async (_, { canary }) => {
          planned = canary;
        },
      }),
      contacts,
    );
    const { rows } = await opened.ledger.pool.query(
      `SELECT window_index AS window, is_canary AS "isCanary", state, first_request AS first, last_request AS last
       FROM slices WHERE run_id = $1 AND phase = 'sending' ORDER BY slice`,
      [run],
    );
    const [one = 0, two = 0] = rows
      .filter(({ isCanary }) => isCanary)
      .map(({ first, last }) => last - first + 1);
    expect(one + two).toBe(8);
    expect(rows).toEqual([
      { window: 1, isCanary: true, state: 'waiting', first: 1, last: one },
      { window: 1, isCanary: false, state: 'unpromoted', first: one + 1, last: 20 },
      { window: 2, isCanary: true, state: 'waiting', first: 21, last: 20 + two },
      { window: 2, isCanary: false, state: 'unpromoted', first: 21 + two, last: 40 },
    ]);
    expect(planned).toEqual({
      recipients: 8,
      requests: 8,
      ranges: [
        { first: 1, last: one },
        { first: 21, last: 20 + two },
      ],
    });
  });

  test('keeps the halves of a rejected request that is divided', async () => {
    const { run } = await plan(people(20), { ...number(4), chunkSize: 4 });
    await createRequestRows(opened.ledger.pool, run);
    await opened.ledger.pool.query(
      `UPDATE requests SET state = 'rejected' WHERE run_id = $1 AND request = 1`,
      [run],
    );
    await inTransaction(opened.ledger.pool, (client) => divideRequests(client, { run, requests: [1] }));
    const { rows } = await opened.ledger.pool.query(
      `SELECT is_canary AS "isCanary", state, first_request AS first FROM slices
       WHERE run_id = $1 AND phase = 'sending' ORDER BY first_request`,
      [run],
    );
    expect(rows.at(-1)).toMatchObject({ isCanary: true, state: 'waiting' });
    expect(rows.slice(0, 2)).toMatchObject([{ isCanary: true }, { isCanary: false, state: 'unpromoted' }]);
  });
});
