import { Big } from 'big.js';
import { type Channel, type Rate, type Unit, unitOfChannel } from '../domain.ts';

/** What a plan has for one SubAccount and ChargeCode; null is for recipients without. */
export type CostTotal = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  readonly recipients: number;
  /** SMS parts; null in other channels. */
  readonly parts: number | null;
};

/** What one SubAccount and ChargeCode would cost. `cost` is an exact decimal. */
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
  /** In the order of the totals they come from. All amounts have equally many decimals. */
  readonly lines: readonly CostLine[];
  /** The exact sum of all lines. */
  readonly total: string;
};

/** `why` is half a sentence for people: "the account has no rate for sms". */
export type CostEstimate = KnownCost | { readonly kind: 'unknown'; readonly why: string };

/** Decimals that an amount of money is shown with at least. */
const usualDecimals = 2;

/** Whether the units of a channel are known before it is sent: the pages of a fax and the seconds of a call are not. */
export function isCountedBeforehand(channel: Channel): boolean {
  const unit = unitOfChannel[channel];
  return unit === 'part' || unit === 'email';
}

/** What a plan would cost by the account's rate card, as far as that can be told before it is sent. */
export function estimateCost(
  totals: readonly CostTotal[],
  channel: Channel,
  rates: readonly Rate[],
): CostEstimate {
  const unit = unitOfChannel[channel];
  if (!isCountedBeforehand(channel)) {
    const why = `${channel} is paid by the ${unit}, and how many there are is known only after sending`;
    return { kind: 'unknown', why };
  }
  const rate = rates.find((candidate) => candidate.channel === channel);
  if (rate === undefined) return { kind: 'unknown', why: `the account has no rate for ${channel}` };

  const price = new Big(rate.price);
  const decimals = Math.max(usualDecimals, decimalsOf(price));
  let total = new Big(0);
  const lines: CostLine[] = [];
  for (const { subAccount, chargeCode, recipients, parts } of totals) {
    const units = unit === 'part' ? parts : recipients;
    if (units === null) return { kind: 'unknown', why: `the parts of the ${channel} were not counted` };
    const cost = price.times(units);
    total = total.plus(cost);
    lines.push({ subAccount, chargeCode, recipients, units, cost: cost.toFixed(decimals) });
  }
  return { kind: 'known', currency: rate.currency, unit, lines, total: total.toFixed(decimals) };
}

function decimalsOf(amount: Big): number {
  return amount.toFixed().split('.')[1]?.length ?? 0;
}

/** The lines that cost most, the dearest first; of equal ones the earlier first. */
export function dearestLines({ lines }: KnownCost, most: number): CostLine[] {
  return lines.toSorted((one, other) => compareAmounts(other.cost, one.cost)).slice(0, most);
}

/** Amounts with equally many decimals are in the order of their texts, where those are equally long. */
function compareAmounts(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : Number(one > other);
}

/** Adds totals up, so that each SubAccount and ChargeCode has one, in the order in which they first come. */
export function addTotals(totals: readonly CostTotal[]): CostTotal[] {
  const sums = new Map<string, CostTotal>();
  for (const { subAccount, chargeCode, recipients, parts } of totals) {
    const key = JSON.stringify([subAccount, chargeCode]);
    const sum = sums.get(key);
    sums.set(key, {
      subAccount,
      chargeCode,
      recipients: recipients + (sum?.recipients ?? 0),
      parts: parts === null ? null : parts + (sum?.parts ?? 0),
    });
  }
  return [...sums.values()];
}
