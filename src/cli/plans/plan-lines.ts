import { type CostEstimate, costliestLines, type KnownCost } from '../../campaign/cost.ts';
import { formatGroups } from '../../campaign/recipient-guards.ts';
import { timeFields } from '../../campaign/test-definition.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import type { TestRecipients } from '../../engine/plan/test-recipients.ts';
import { costColumns } from '../../report/lists/plan-costs.ts';
import { printable } from '../../report/printable.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';

/** Lines that both a plan and the start of a run print, and the parts of a plan about costs and tests. */

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

/** What a plan prints about a test. */
export function testLines({ addresses, leftOut }: TestRecipients): string[] {
  const times = leftOut.filter((key) => timeFields.includes(key));
  const texts = leftOut.filter((key) => key !== 'Keypads' && !times.includes(key));
  return [
    `  test        to ${addresses.map(printable).join(', ')}; nothing reaches the addresses of the rows, and the messages do not say that they are a test`,
    ...(texts.length > 0
      ? [`  without     ${texts.join(', ')}: a copy or an answer could reach a row's address`]
      : []),
    ...(times.length > 0 ? [`  at once     without ${times.join(', ')}`] : []),
    ...(leftOut.includes('Keypads')
      ? ['  keypads     call your first number instead of the numbers of the rows']
      : []),
  ];
}

/** `; 3 more excluded by contacts.where`; empty for none. @param rows null without `where` */
export const filteredText = (rows: number | null): string =>
  rows ? `; ${rows} more excluded by contacts.where` : '';

/** Cells of a workbook that a spreadsheet may have changed. */
export const warningText = (text: string): string => `  warning     ${printable(text)}`;

export function originLines({
  runs,
  others,
  reached,
}: Omit<NonNullable<Preview['origins']>, 'reached'> & {
  readonly reached: Parameters<typeof formatGroups>[0];
}): string[] {
  const runsText = (ids: readonly string[]): string =>
    `${ids.length === 1 ? 'run' : 'runs'} ${ids.map(printable).join(', ')}`;
  return [
    ...(runs.length === 0
      ? []
      : [
          `  fixed       contacts of ${runsText(runs)}; excluded: ${reached.length === 0 ? 'none' : printable(formatGroups(reached))}`,
        ]),
    ...(others.length === 0
      ? []
      : [`  contacts    of ${runsText(others)} of another campaign: its recipients are sent to again`]),
  ];
}

export function unreadableText({ lines, problems }: Preview['unreadableSuppressions']): string[] {
  return [
    `Lines of suppression files without an address (${problems.length} of ${lines} shown)`,
    ...problems.map(({ where, what }) => `  ${printable(where)}: ${printable(what)}`),
  ];
}
