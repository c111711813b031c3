import type { Check } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import { type Closing, checkPeriod, listClosings, type PeriodCheck } from '../../ledger/billing/close.ts';
import { closeMonth, refuseClosing, refuseWithoutZone } from '../billing/billing.ts';
import type { EngineContext } from '../context.ts';
import type { Away, CellAnswer } from './ask-cells.ts';

type AskAll = <Value>(
  ask: (context: EngineContext) => Promise<Value>,
) => Promise<readonly CellAnswer<Value>[]>;

type Period = { readonly period: string; readonly timeZone: string };

/** `before`: an earlier call closed it. */
export type ClosedMonth = { readonly closing: Closing; readonly before: boolean };

type ClosedCells =
  /** No cell has closed it now. */
  | { readonly kind: 'not begun'; readonly away: readonly Away[] }
  | { readonly kind: 'begun'; readonly answers: readonly CellAnswer<ClosedMonth>[] };

/**
 * Closes a month in every cell, once all of them say that they can. A cell that is lost between the two is named, and
 * the next call closes it there: a closed month cannot be opened again, and a transaction over several servers needs
 * settings that Postgres does not have by default.
 *
 * @param ask opens the cells for changes
 * @param timeZone undefined: that of the months that are closed already
 * @throws InputError when a cell cannot close it; then none has
 */
export async function closeMonthInCells(
  ask: AskAll,
  {
    month,
    timeZone,
    closedBy,
  }: { readonly month: string; readonly timeZone: string | undefined; readonly closedBy: string },
): Promise<ClosedCells> {
  const lasts = await ask(async ({ ledger }) => (await listClosings(ledger.pool)).at(-1));
  const away = lasts.filter((answer) => answer.kind === 'away');
  if (away.length > 0) return { kind: 'not begun', away };
  const period = { period: month, timeZone: chooseZone(month, lasts, timeZone) };
  const checks = await ask(({ ledger, now }) => checkPeriod(ledger.pool, period, now()));
  const lost = checks.filter((answer) => answer.kind === 'away');
  if (lost.length > 0) return { kind: 'not begun', away: lost };
  for (const check of checks)
    if (check.kind === 'answered') refuseInCell(check.cell.name, () => requirePossible(check.value, period));
  const answers = await ask(async (context): Promise<ClosedMonth> => {
    const check = await checkPeriod(context.ledger.pool, period, context.now());
    if (check.kind === 'already closed') return { closing: check.closing, before: true };
    return {
      closing: await closeMonth(context, { month, timeZone: period.timeZone, closedBy }),
      before: false,
    };
  });
  return { kind: 'begun', answers };
}

function requirePossible(check: PeriodCheck, { period, timeZone }: Period): void {
  if (check.kind === 'can be closed') return;
  if (check.kind === 'already closed' && check.closing.timeZone === timeZone) return;
  refuseClosing(period, check);
}

/** Names the cell in each problem. */
function refuseInCell(cell: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.problems.map((each) => ({ ...each, where: `cell ${cell}: ${each.where}` })));
  }
}

/** All cells close in one zone, or their months would not be the same. */
function chooseZone(
  month: string,
  lasts: readonly CellAnswer<Closing | undefined>[],
  asked: string | undefined,
): string {
  const closed = lasts.flatMap((answer) =>
    answer.kind === 'answered' && answer.value
      ? [{ cell: answer.cell.name, zone: answer.value.timeZone }]
      : [],
  );
  const [zone = refuseWithoutZone(month), ...others] = new Set([
    ...(asked === undefined ? [] : [asked]),
    ...closed.map((each) => each.zone),
  ]);
  if (others.length === 0) return zone;
  throw new InputError(
    closed.map((each) => ({
      where: `cell ${each.cell}`,
      what: `Its months are months of ${each.zone}, and all cells close in one zone. Close them in each cell, with its own zone.`,
    })),
  );
}

/** Whether the cells that answer have closed the same months. A month is closed in all cells, or named. */
export function checkMonths(answers: readonly CellAnswer<readonly Closing[]>[]): Check {
  const name = 'closed months of cells';
  const closed = answers.flatMap((answer) =>
    answer.kind === 'answered'
      ? [{ cell: answer.cell.name, months: answer.value.map(({ period }) => period) }]
      : [],
  );
  const last = closed
    .flatMap(({ months }) => months)
    .toSorted()
    .at(-1);
  const lacking = closed.filter(({ months }) => last !== undefined && !months.includes(last));
  if (last === undefined || lacking.length === 0)
    return { name, state: 'ok', found: `The last one is ${last ?? 'none yet'}.`, nextStep: null };
  const [open, others] = [lacking, closed.filter((each) => !lacking.includes(each))].map((cells) =>
    cells.map(({ cell }) => cell).join(', '),
  );
  const found = `${last} is closed in ${others}, and not in ${open}.`;
  return { name, state: 'warning', found, nextStep: `Run \`volley billing close ${last}\` again.` };
}
