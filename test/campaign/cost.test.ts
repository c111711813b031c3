import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CostEstimate, costliestLines, estimateCost, type KnownCost } from '../../src/campaign/cost.ts';
import { createTariffs } from '../../src/campaign/tariffs.ts';
import { type Channel, channels } from '../../src/domain/message.ts';
import { type CostTotal, type Rate, type RunRates, unitOfChannel } from '../../src/domain/rate-card.ts';

function rate(channel: Channel, price: string): Rate {
  return { channel, unit: unitOfChannel[channel], price, currency: 'NZD' };
}

function total(changes: Partial<CostTotal> = {}): CostTotal {
  return {
    subAccount: 'ACME',
    chargeCode: 'C1',
    tariffIndex: 0,
    recipients: 1,
    parts: null,
    example: null,
    ...changes,
  };
}

const now = new Date();

/** The cost of a plan with rates for every destination. */
function estimate(totals: readonly CostTotal[], channel: Channel, rates: readonly Rate[]): CostEstimate {
  return estimateCost(totals, channel, createTariffs(channel, { rates, ratesTimeZone: 'UTC' }).rates(), now);
}

function known(totals: readonly CostTotal[], channel: Channel, price: string): KnownCost {
  const estimated = estimate(totals, channel, [rate(channel, price)]);
  return estimated.kind === 'known' ? estimated : expect.fail(estimated.why);
}

describe('estimateCost with a known cost', () => {
  test('an SMS plan costs its parts, by SubAccount and ChargeCode', () => {
    const totals = [
      total({ recipients: 10, parts: 12 }),
      total({ subAccount: null, chargeCode: null, recipients: 3, parts: 3 }),
    ];
    expect(estimate(totals, 'sms', [rate('email', '1'), rate('sms', '0.08')])).toEqual({
      kind: 'known',
      currency: 'NZD',
      unit: 'part',
      lines: [
        { subAccount: 'ACME', chargeCode: 'C1', recipients: 10, units: 12, cost: '0.96' },
        { subAccount: null, chargeCode: null, recipients: 3, units: 3, cost: '0.24' },
      ],
      total: '1.20',
      tax: null,
    });
  });

  test('an e-mail plan costs its recipients', () => {
    expect(known([total({ recipients: 250 })], 'email', '0.01')).toMatchObject({
      unit: 'email',
      total: '2.50',
    });
  });

  test('a plan without recipients costs nothing', () => {
    expect(known([], 'sms', '0.08')).toMatchObject({ lines: [], total: '0.00' });
  });

  test('costs are exact, and all amounts have the same number of decimals', () => {
    const totals = [total({ recipients: 3 }), total({ subAccount: null, recipients: 200_000_000 })];
    const { lines, total: sum } = known(totals, 'email', '0.00000001');
    expect([...lines.map(({ cost }) => cost), sum]).toEqual(['0.00000003', '2.00000000', '2.00000003']);
  });
});

describe('estimateCost with an unknown cost', () => {
  test.each(['sms', 'email'] as const)('the cost is unknown without a rate for %s', (channel) => {
    const others = channels.filter((other) => other !== channel).map((other) => rate(other, '1'));
    const why = `the account has no rate for ${channel}`;
    expect(estimate([total()], channel, others)).toEqual({ kind: 'unknown', why });
  });

  test.each([
    ['fax', 'page'],
    ['voice', 'second'],
    ['tts', 'second'],
  ] as const)(
    'the cost of a %s is unknown with or without a rate, because the service counts its %ss',
    (channel, unit) => {
      const why = `${channel} is paid by the ${unit}, and how many there are is known only after sending`;
      expect(estimate([total()], channel, [rate(channel, '1')])).toEqual({ kind: 'unknown', why });
      expect(estimate([total()], channel, [])).toEqual({ kind: 'unknown', why });
    },
  );

  test('the cost of an SMS is unknown if its parts were not counted', () => {
    const estimated = estimate([total({ parts: null })], 'sms', [rate('sms', '1')]);
    expect(estimated).toEqual({ kind: 'unknown', why: 'the parts of the sms were not counted' });
  });
});

/** An amount in units of 10^-8, the smallest possible. */
function scaled(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(8, '0'));
}

/** With up to 8 decimals, and trailing zeros or none. */
const price = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 8 }), fc.nat(99_999_999))
  .map(([whole, decimals, fraction]) =>
    decimals === 0 ? String(whole) : `${whole}.${String(fraction).padStart(8, '0').slice(0, decimals)}`,
  );
const units = fc.oneof(fc.nat(10), fc.nat(2_000_000_000));

describe('estimateCost in whole units of 10^-8', () => {
  test('every line costs price × units, and the total is their sum', () => {
    fc.assert(
      fc.property(price, fc.array(units, { maxLength: 30 }), (written, counts) => {
        const totals = counts.map((parts, index) => total({ parts, chargeCode: String(index) }));
        const { lines, total: sum } = known(totals, 'sms', written);
        const costs = counts.map((parts) => scaled(written) * BigInt(parts));
        expect(lines.map(({ cost }) => scaled(cost))).toEqual(costs);
        expect(scaled(sum)).toBe(costs.reduce((all, cost) => all + cost, 0n));
      }),
    );
  });

  test('costliestLines returns the lines with the highest costs', () => {
    fc.assert(
      fc.property(price, fc.array(units, { maxLength: 30 }), fc.nat(12), (written, counts, limit) => {
        const estimate = known(
          counts.map((parts, index) => total({ parts, chargeCode: String(index) })),
          'sms',
          written,
        );
        const descending = estimate.lines
          .map(({ cost }) => scaled(cost))
          .sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
        expect(costliestLines(estimate, limit).map(({ cost }) => scaled(cost))).toEqual(
          descending.slice(0, limit),
        );
      }),
    );
  });
});

describe('estimateCost by tariffs', () => {
  const period = { tax: null, from: null, until: null };
  const rates: RunRates = {
    currency: 'NZD',
    tariffs: [
      [
        { ...period, price: '0.1', tax: '0.15', until: '2026-10-31T11:00:00Z' },
        { ...period, price: '0.2', tax: '0.125', from: '2026-10-31T11:00:00Z' },
      ],
      [{ ...period, price: '0.005' }],
      [],
    ],
  };
  const at = (instant: string, totals: readonly CostTotal[]): CostEstimate =>
    estimateCost(totals, 'sms', rates, new Date(instant));
  const parts = (parts: number, tariffIndex: number, changes: Partial<CostTotal> = {}): CostTotal =>
    total({ parts, recipients: parts, tariffIndex, ...changes });

  test('the price valid at that millisecond applies', () => {
    expect(at('2026-10-31T10:59:59.999Z', [parts(10, 0)])).toMatchObject({ total: '1.000', tax: '0.15' });
    expect(at('2026-10-31T11:00:00Z', [parts(10, 0)])).toMatchObject({ total: '2.000', tax: '0.25' });
  });

  test('a SubAccount and ChargeCode have one line for all their tariffs, and the tax is exact', () => {
    const totals = [parts(3, 1), parts(1, 0, { subAccount: 'B' }), parts(10, 0)];
    expect(at('2026-12-01T00:00:00Z', totals)).toMatchObject({
      lines: [
        { subAccount: 'ACME', recipients: 13, units: 13, cost: '2.015' },
        { subAccount: 'B', recipients: 1, units: 1, cost: '0.200' },
      ],
      total: '2.215',
      tax: '0.275',
    });
  });

  test('recipients without a rate make the cost unknown: the reason has their number and an example', () => {
    const unrated = (recipients: number, example: string | null) =>
      total({ recipients, parts: recipients, tariffIndex: 2, example });
    const why = (...totals: CostTotal[]) => at('2026-12-01T00:00:00Z', [parts(1, 0), ...totals]);
    expect(why(unrated(1, '+61412000002'), unrated(2, '+61412000001'))).toEqual({
      kind: 'unknown',
      why: '3 recipients have no rate for sms that is valid now, such as +61412000001',
    });
    expect(why(unrated(1, null))).toEqual({
      kind: 'unknown',
      why: '1 recipient has no rate for sms that is valid now',
    });
  });
});
