import { type CostEstimate, costliestLines, type KnownCost } from '../campaign/cost.ts';
import { costColumns } from '../report/lists/plan-costs.ts';
import type { Screen } from '../report/screen.ts';
import { formatTable } from '../report/table.ts';

export function totalText(cost: CostEstimate): string {
  return cost.kind === 'known'
    ? `${cost.total} ${cost.currency}, estimated by the rates of the account${cost.tax === null ? '' : `; tax apart: ${cost.tax}`}`
    : `not known: ${cost.why}`;
}

export function isDivided(cost: CostEstimate): cost is KnownCost {
  return (
    cost.kind === 'known' &&
    cost.lines.some(({ subAccount, chargeCode }) => subAccount !== null || chargeCode !== null)
  );
}

const shownCosts = 20;

/** The last line is the total of all lines. */
export function costText(cost: KnownCost, screen?: Screen): string {
  const { lines, total } = cost;
  const shown = costliestLines(cost, shownCosts);
  const more =
    lines.length > shown.length
      ? ` (the dearest ${shown.length} of ${lines.length}; the total is of all)`
      : '';
  const all = { subAccount: 'Total', chargeCode: '', recipients: 0, units: 0, cost: total };
  for (const { recipients, units } of lines) {
    all.recipients += recipients;
    all.units += units;
  }
  return `Estimated cost${more}\n${formatTable(costColumns(cost), shown, screen, [all])}`;
}
