import { Big } from 'big.js';
import type { Channel } from '../domain/message.ts';
import { type CostTotal, type RunRates, type Unit, unitOfChannel } from '../domain/rate-card.ts';
import { compareAmounts, displayDecimals, toDisplayAmount } from '../platform/money.ts';
import { count } from '../platform/sentence.ts';
import { periodAt } from './tariffs.ts';

export type CostLine = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  readonly recipients: number;
  readonly units: number;
  readonly cost: string;
};

export type KnownCost = {
  readonly kind: 'known';
  readonly currency: string;
  readonly unit: Unit;
  /** In order of first occurrence. All amounts have the same number of decimals. */
  readonly lines: readonly CostLine[];
  /** Without tax. */
  readonly total: string;
  /** On the total; null if no rate has one. */
  readonly tax: string | null;
};

/** `why` completes a sentence: "the account has no rate for sms". */
export type CostEstimate = KnownCost | { readonly kind: 'unknown'; readonly why: string };

/** Whether the units of a channel are known before sending. Fax pages and call seconds are not. */
export function isCountedBeforehand(channel: Channel): boolean {
  const unit = unitOfChannel[channel];
  return unit === 'part' || unit === 'email';
}

/**
 * Estimates the cost of a plan.
 *
 * @param rates null: the account has none for the channel
 * @param at when the run is sent; the rates valid then apply
 */
export function estimateCost(
  totals: readonly CostTotal[],
  channel: Channel,
  rates: RunRates | null,
  at: Date,
): CostEstimate {
  const unit = unitOfChannel[channel];
  if (!isCountedBeforehand(channel)) {
    const why = `${channel} is paid by the ${unit}, and how many there are is known only after sending`;
    return { kind: 'unknown', why };
  }
  if (rates === null) return { kind: 'unknown', why: `the account has no rate for ${channel}` };
  const valid = rates.tariffs.map((tariff) => {
    const period = periodAt(tariff, at);
    return period && { price: new Big(period.price), tax: period.tax === null ? null : new Big(period.tax) };
  });
  const unrated = totals.filter(({ tariffIndex }) => valid[tariffIndex] === undefined);
  if (unrated.length > 0) return { kind: 'unknown', why: formatUnrated(unrated, channel) };

  const zero = new Big(0);
  const decimals = displayDecimals(valid.map((rate) => rate?.price.toFixed() ?? '0'));
  const taxed = valid.some((rate) => rate && rate.tax !== null);
  const lines = new Map<string, SummedLine>();
  let [total, tax] = [zero, zero];
  for (const { subAccount, chargeCode, tariffIndex, recipients, parts } of totals) {
    const units = unit === 'part' ? parts : recipients;
    if (units === null) return { kind: 'unknown', why: `the parts of the ${channel} were not counted` };
    const cost = (valid[tariffIndex]?.price ?? zero).times(units);
    total = total.plus(cost);
    tax = tax.plus(cost.times(valid[tariffIndex]?.tax ?? zero));
    const key = JSON.stringify([subAccount, chargeCode]);
    const line = lines.get(key) ?? { subAccount, chargeCode, recipients: 0, units: 0, cost: zero };
    line.recipients += recipients;
    line.units += units;
    line.cost = line.cost.plus(cost);
    lines.set(key, line);
  }
  return {
    kind: 'known',
    currency: rates.currency,
    unit,
    lines: [...lines.values()].map((line) => ({ ...line, cost: line.cost.toFixed(decimals) })),
    total: total.toFixed(decimals),
    tax: taxed ? toDisplayAmount(tax.toFixed()) : null,
  };
}

/** Null: it is not known. */
export function amountOf(estimate: CostEstimate): string | null {
  return estimate.kind === 'known' ? estimate.total : null;
}

/** All SMS parts of a plan; null in other channels. */
export function sumParts(totals: readonly Pick<CostTotal, 'parts'>[], channel: Channel): number | null {
  return channel === 'sms' ? totals.reduce((sum, { parts }) => sum + (parts ?? 0), 0) : null;
}

type SummedLine = { -readonly [Key in keyof CostLine]: Key extends 'cost' ? Big : CostLine[Key] };

function formatUnrated(totals: readonly CostTotal[], channel: Channel): string {
  const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
  // The alphabetically first, so that it does not depend on the order of counting.
  const [example] = totals.flatMap(({ example }) => example ?? []).sort();
  const subject = `${count(recipients, 'recipient')} ${recipients === 1 ? 'has' : 'have'}`;
  return `${subject} no rate for ${channel} that is valid now${example === undefined ? '' : `, such as ${example}`}`;
}

/** The lines with the highest cost, highest first; equal ones in their order. */
export function costliestLines({ lines }: KnownCost, limit: number): CostLine[] {
  return lines.toSorted((one, other) => compareAmounts(other.cost, one.cost)).slice(0, limit);
}
