import type { BillingLine } from '../../ledger/billing/report.ts';
import { addAmounts, compareAmounts } from '../../platform/money.ts';

/** Money is exact decimals, as text. */
export type MoneyFigures = Pick<
  BillingLine,
  'recipients' | 'accepted' | 'price' | 'estimated' | 'estimatedTax' | 'difference'
>;

/** The cost of one SubAccount or ChargeCode; null when the request has none. */
type MoneyLine = MoneyFigures & { readonly value: string | null };

/** The most expensive lines, and the sum of all others. */
export type Largest = {
  readonly lines: readonly MoneyLine[];
  readonly others: (MoneyFigures & { readonly count: number }) | null;
};

const maxListed = 20;

/**
 * Finds the lines that cost most, in constant memory: by price, then by estimate.
 *
 * @param batches in the order of their values; corrections of closed months are added to their value
 */
export async function findLargest(
  batches: AsyncIterable<readonly BillingLine[]>,
  limit = maxListed,
): Promise<Largest> {
  const lines: MoneyLine[] = [];
  let rest: Largest['others'] = null;
  for await (const line of valueByValue(batches)) {
    const index = lines.findIndex((other) => compareCosts(line, other) > 0);
    lines.splice(index === -1 ? lines.length : index, 0, line);
    const last = lines.length > limit ? lines.pop() : undefined;
    if (last) rest = addToOthers(rest, last);
  }
  return { lines, others: rest };
}

async function* valueByValue(
  batches: AsyncIterable<readonly BillingLine[]>,
): AsyncGenerator<MoneyLine, void, undefined> {
  let current: MoneyLine | undefined;
  for await (const batch of batches) {
    for (const { values, ...figures } of batch) {
      const [value = null] = values;
      if (current && current.value === value) {
        current = { value, ...addFigures(current, figures) };
        continue;
      }
      if (current) yield current;
      current = { value, ...pickFigures(figures) };
    }
  }
  if (current) yield current;
}

function compareCosts(one: MoneyLine, other: MoneyLine): number {
  return compareAmounts(one.price, other.price) || compareAmounts(one.estimated, other.estimated);
}

function addToOthers(others: Largest['others'], line: MoneyLine): Largest['others'] {
  return others
    ? { ...addFigures(others, line), count: others.count + 1 }
    : { ...pickFigures(line), count: 1 };
}

function pickFigures(figures: MoneyFigures): MoneyFigures {
  const { recipients, accepted, price, estimated, estimatedTax, difference } = figures;
  return { recipients, accepted, price, estimated, estimatedTax, difference };
}

function addFigures(one: MoneyFigures, other: MoneyFigures): MoneyFigures {
  return {
    recipients: one.recipients + other.recipients,
    accepted: one.accepted + other.accepted,
    price: addAmounts(one.price, other.price),
    estimated: addAmounts(one.estimated, other.estimated),
    estimatedTax: addAmounts(one.estimatedTax, other.estimatedTax),
    difference: addAmounts(one.difference, other.difference),
  };
}
