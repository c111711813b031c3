import { Big } from 'big.js';
import { expect, test } from 'vitest';
import { periodAt } from '../../../src/campaign/tariffs.ts';
import type { RatePeriod, RunRates, Tariff } from '../../../src/domain/rate-card.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const november = '2026-10-31T11:00:00Z';
const december = '2026-11-30T11:00:00Z';
const period = (price: string, from: string | null, until: string | null, tax: string | null = null) =>
  ({ price, tax, from, until }) satisfies RatePeriod;

const tariffs: readonly Tariff[] = [
  [
    period('0.05', null, november),
    period('0.06', november, december, '0.15'),
    period('0.07', december, null),
  ],
  [period('0.10', november, december)],
  [period('0.20', null, null, '0.1')],
  [],
];
const rates: RunRates = { currency: 'NZD', tariffs };

/** The instants around a moment. */
const instantsAround = (moment: string): Date[] =>
  [-1, 0, 1].map((milliseconds) => new Date(Date.parse(moment) + milliseconds));
const instants = [
  ...instantsAround(november),
  ...instantsAround(december),
  new Date(0),
  new Date('2100-01-01T00:00:00Z'),
];

test.each(tariffs.map((_, tariff) => tariff))(
  'a message is billed by the same tariff period as its estimate: tariff %i',
  async (tariff) => {
    const { rows } = await opened.ledger.pool.query<{ sent: Date; price: string | null; tax: string | null }>(
      `
      SELECT sent, rate.price, rate.tax
      FROM unnest($3::timestamptz[]) AS sent
      LEFT JOIN LATERAL rate_at($1, $2, sent) rate ON true
      `,
      [JSON.stringify(rates), tariff, instants],
    );
    expect(rows).toHaveLength(instants.length);
    for (const { sent, price, tax } of rows) {
      const found = periodAt(tariffs[tariff] ?? [], sent);
      expect(price, sent.toISOString()).toBe(found?.price ?? null);
      const expectedTax = found && new Big(found.price).times(found.tax ?? 0);
      expect(tax === null ? undefined : Number(tax), sent.toISOString()).toBe(expectedTax?.toNumber());
    }
  },
);
