import { InputError, type Problem } from '../domain/problems.ts';
import { addAmounts, compareAmounts, toDisplayAmount } from '../platform/money.ts';
import { count } from '../platform/sentence.ts';
import type { Campaign } from './campaign.ts';
import { type CostEstimate, isCountedBeforehand, type KnownCost } from './cost.ts';
import type { Definition } from './definition.ts';

type Budget = NonNullable<Definition['budget']>;

/** A budget limit that a plan exceeds. Amounts are exact decimals in the estimate's currency. */
type Overrun = {
  /** The path of the limit in the campaign file. */
  readonly path: readonly string[];
  /** How error messages name it: `SubAccount "ACME"`. */
  readonly name: string;
  /** With at least two decimals. */
  readonly limit: string;
  readonly cost: string;
};

const maxShownOverruns = 20;

/**
 * Checks the cost of a plan against the campaign's budget, if there is one.
 *
 * @throws InputError when the cost exceeds the budget or cannot be estimated
 */
export function checkBudget(
  {
    value: { budget, channel },
    locate,
  }: { readonly value: Pick<Definition, 'budget' | 'channel'>; readonly locate: Campaign['locate'] },
  estimate: CostEstimate,
): void {
  if (budget === undefined) return;
  if (estimate.kind === 'unknown') {
    const remedy = isCountedBeforehand(channel) ? 'Add it to its "rates", or remove' : 'Remove';
    const what = `A budget needs an estimated cost, and there is none: ${estimate.why}. ${remedy} "budget".`;
    throw new InputError([{ where: locate(['budget']), what }]);
  }
  const overruns = findOverruns(estimate, budget);
  if (overruns.length === 0) return;
  const problems = overruns.slice(0, maxShownOverruns).map(({ path, name, limit, cost }): Problem => {
    const { currency } = estimate;
    const what = `The budget of ${name} is ${limit} ${currency}; this plan would cost ${cost} ${currency}.`;
    return { where: locate(path), what };
  });
  const more = overruns.length - problems.length;
  if (more > 0)
    problems.push({
      where: locate(['budget']),
      what: `${count(more, 'more limit')} would be exceeded.`,
    });
  throw new InputError(problems);
}

/** The exceeded limits: the campaign's first, then in the order of the estimate's lines. */
export function findOverruns(estimate: KnownCost, budget: Budget): readonly Overrun[] {
  const { lines, total } = estimate;
  const all =
    budget.campaign === undefined
      ? []
      : overrunOf(['budget', 'campaign'], 'the campaign', budget.campaign, total);
  return [...all, ...payers.flatMap((payer) => overrunsByPayer(lines, payer, budget[payer.key]))];
}

const payers = [
  { of: 'subAccount', key: 'subAccounts', word: 'SubAccount' },
  { of: 'chargeCode', key: 'chargeCodes', word: 'ChargeCode' },
] as const;

function overrunsByPayer(
  lines: KnownCost['lines'],
  { of, key, word }: (typeof payers)[number],
  limits: Readonly<Record<string, string>> = {},
): Overrun[] {
  const limitOf = new Map(Object.entries(limits));
  if (limitOf.size === 0) return [];
  const sums = new Map<string | null, string>();
  for (const { [of]: payer, cost } of lines) sums.set(payer, addAmounts(sums.get(payer) ?? '0', cost));
  return [...sums].flatMap(([payer, cost]) => {
    const limitKey = payer !== null && limitOf.has(payer) ? payer : '*';
    const limit = limitOf.get(limitKey);
    const name = payer === null ? `recipients without ${word}` : `${word} "${payer}"`;
    return limit === undefined ? [] : overrunOf(['budget', key, limitKey], name, limit, cost);
  });
}

function overrunOf(path: readonly string[], name: string, limit: string, cost: string): Overrun[] {
  return compareAmounts(cost, limit) <= 0 ? [] : [{ path, name, limit: toDisplayAmount(limit), cost }];
}
