import type { PayerCost, RunCost, RunCosts } from '../../ledger/billing/run-costs.ts';
import { subtractAmounts } from '../../platform/money.ts';

/** Money is exact decimals, as text. */
export type MoneyFigures = Omit<RunCost, 'unrated'> & { readonly difference: string };

/** The cost of one SubAccount or ChargeCode; null when the request has none. */
type MoneyLine = MoneyFigures & { readonly value: string | null };

/** The most expensive lines, and the sum of all others. */
export type Largest = {
  readonly lines: readonly MoneyLine[];
  readonly others: (MoneyFigures & { readonly count: number }) | null;
};

/** The run's total, and those who pay most. */
export type RunMoney = MoneyFigures &
  Pick<RunCost, 'unrated'> & {
    readonly currency: string | null;
    readonly bySubAccount: Largest;
    readonly byChargeCode: Largest;
  };

/** @returns null if the run costs nothing, because nothing was sent */
export function toRunMoney(costs: RunCosts): RunMoney | null {
  const { currency, total, bySubAccount, byChargeCode, subAccounts, chargeCodes } = costs;
  if (subAccounts === 0) return null;
  return {
    currency,
    ...toFigures(total),
    unrated: total.unrated,
    bySubAccount: toLargest(total, bySubAccount, subAccounts),
    byChargeCode: toLargest(total, byChargeCode, chargeCodes),
  };
}

function toLargest(total: RunCost, lines: readonly PayerCost[], count: number): Largest {
  const others = count - lines.length;
  return {
    lines: lines.map(({ value, ...cost }) => ({ value, ...toFigures(cost) })),
    others: others === 0 ? null : { ...toFigures(lines.reduce(subtract, total)), count: others },
  };
}

function toFigures({ recipients, accepted, price, estimated, estimatedTax }: RunCost): MoneyFigures {
  const difference = subtractAmounts(price, estimated);
  return { recipients, accepted, price, estimated, estimatedTax, difference };
}

function subtract(one: RunCost, other: RunCost): RunCost {
  return {
    recipients: one.recipients - other.recipients,
    accepted: one.accepted - other.accepted,
    price: subtractAmounts(one.price, other.price),
    estimated: subtractAmounts(one.estimated, other.estimated),
    estimatedTax: subtractAmounts(one.estimatedTax, other.estimatedTax),
    unrated: one.unrated - other.unrated,
  };
}
