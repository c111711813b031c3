import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addTotals,
  type CostTotal,
  dearestLines,
  estimateCost,
  type KnownCost,
} from '../../src/campaign/cost.ts';
import { type Channel, channels, type Rate, unitOfChannel } from '../../src/domain.ts';

function rate(channel: Channel, price: string): Rate {
  return { channel, unit: unitOfChannel[channel], price, currency: 'NZD' };
}

function total(changes: Partial<CostTotal> = {}): CostTotal {
  return { subAccount: 'ACME', chargeCode: 'C1', recipients: 1, parts: null, ...changes };
}

function known(totals: readonly CostTotal[], channel: Channel, price: string): KnownCost {
  const estimate = estimateCost(totals, channel, [rate(channel, price)]);
  return estimate.kind === 'known' ? estimate : expect.fail(estimate.why);
}

describe('a plan costs', () => {
  test('the parts of an SMS, by SubAccount and ChargeCode', () => {
    const totals = [
      total({ recipients: 10, parts: 12 }),
      total({ subAccount: null, chargeCode: null, recipients: 3, parts: 3 }),
    ];
    expect(estimateCost(totals, 'sms', [rate('email', '1'), rate('sms', '0.08')])).toEqual({
      kind: 'known',
      currency: 'NZD',
      unit: 'part',
      lines: [
        { subAccount: 'ACME', chargeCode: 'C1', recipients: 10, units: 12, cost: '0.96' },
        { subAccount: null, chargeCode: null, recipients: 3, units: 3, cost: '0.24' },
      ],
      total: '1.20',
    });
  });

  test('the recipients of an e-mail', () => {
    expect(known([total({ recipients: 250 })], 'email', '0.01')).toMatchObject({
      unit: 'email',
      total: '2.50',
    });
  });

  test('nothing for nobody', () => {
    expect(known([], 'sms', '0.08')).toMatchObject({ lines: [], total: '0.00' });
  });

  test('what is exact: no cent appears or is lost, and all amounts have equally many decimals', () => {
    const totals = [total({ recipients: 3 }), total({ recipients: 200_000_000 })];
    const { lines, total: sum } = known(totals, 'email', '0.00000001');
    expect([...lines.map(({ cost }) => cost), sum]).toEqual(['0.00000003', '2.00000000', '2.00000003']);
  });
});

describe('what a plan costs is not known', () => {
  test.each(['sms', 'email'] as const)('without a rate for %s', (channel) => {
    const others = channels.filter((other) => other !== channel).map((other) => rate(other, '1'));
    const why = `the account has no rate for ${channel}`;
    expect(estimateCost([total()], channel, others)).toEqual({ kind: 'unknown', why });
  });

  test.each([
    ['fax', 'page'],
    ['voice', 'second'],
    ['tts', 'second'],
  ] as const)('for a %s, with a rate or without: its %ss are counted by the service', (channel, unit) => {
    const why = `${channel} is paid by the ${unit}, and how many there are is known only after sending`;
    expect(estimateCost([total()], channel, [rate(channel, '1')])).toEqual({ kind: 'unknown', why });
    expect(estimateCost([total()], channel, [])).toEqual({ kind: 'unknown', why });
  });

  test('for SMS whose parts nobody counted', () => {
    const estimate = estimateCost([total({ parts: null })], 'sms', [rate('sms', '1')]);
    expect(estimate).toEqual({ kind: 'unknown', why: 'the parts of the sms were not counted' });
  });
});

/** An amount in units of 10^-8, the finest there is. */
function scaled(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(8, '0'));
}

/** As people write it: with up to 8 decimals, and zeros at its end or not. */
const price = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 8 }), fc.nat(99_999_999))
  .map(([whole, decimals, fraction]) =>
    decimals === 0 ? String(whole) : `${whole}.${String(fraction).padStart(8, '0').slice(0, decimals)}`,
  );
const units = fc.oneof(fc.nat(10), fc.nat(2_000_000_000));

describe('in whole units of 10^-8', () => {
  test('every line is price × units, and the total their sum', () => {
    fc.assert(
      fc.property(price, fc.array(units, { maxLength: 30 }), (written, counts) => {
        const totals = counts.map((parts) => total({ parts }));
        const { lines, total: sum } = known(totals, 'sms', written);
        const costs = counts.map((parts) => scaled(written) * BigInt(parts));
        expect(lines.map(({ cost }) => scaled(cost))).toEqual(costs);
        expect(scaled(sum)).toBe(costs.reduce((all, cost) => all + cost, 0n));
      }),
    );
  });

  test('the dearest lines are those that no other costs more than', () => {
    fc.assert(
      fc.property(price, fc.array(units, { maxLength: 30 }), fc.nat(12), (written, counts, most) => {
        const estimate = known(
          counts.map((parts) => total({ parts })),
          'sms',
          written,
        );
        const descending = estimate.lines
          .map(({ cost }) => scaled(cost))
          .sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
        expect(dearestLines(estimate, most).map(({ cost }) => scaled(cost))).toEqual(
          descending.slice(0, most),
        );
      }),
    );
  });
});

describe('totals are added up', () => {
  const total = (
    subAccount: string | null,
    chargeCode: string | null,
    recipients: number,
    parts: number | null,
  ) => ({
    subAccount,
    chargeCode,
    recipients,
    parts,
  });

  test('by SubAccount and ChargeCode, in the order in which each pair first comes', () => {
    expect(
      addTotals([
        total('B', 'C1', 1, 2),
        total(null, 'C1', 1, 1),
        total('B', 'C1', 4, 3),
        total('A', null, 1, 1),
        total('B', 'C0', 1, 1),
      ]),
    ).toEqual([
      total('B', 'C1', 5, 5),
      total(null, 'C1', 1, 1),
      total('A', null, 1, 1),
      total('B', 'C0', 1, 1),
    ]);
  });

  test('without parts in channels that have none', () => {
    expect(addTotals([total(null, null, 1, null), total(null, null, 1, null)])).toEqual([
      total(null, null, 2, null),
    ]);
  });
});
