import type { Check } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import { type Closing, checkPeriod, listClosings, type PeriodCheck } from '../../ledger/billing/close.ts';
import { closeMonth, refuseClosing, refuseWithoutZone } from '../billing/billing.ts';
import type { EngineContext } from '../context.ts';
import type { Away, CellAnswers, CellPart } from './ask-cells.ts';

type AskAll = <Value>(ask: (context: EngineContext) => Promise<Value>) => Promise<CellAnswers<Value>>;

type Period = { readonly period: string; readonly timeZone: string };

type ClosedCells =
  /** No cell has closed it now. */
  | { readonly kind: 'not begun'; readonly away: readonly Away[] }
  | { readonly kind: 'begun'; readonly answers: CellAnswers<Closing> };

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
  const { parts, away } = await ask((context) => readState(context, month, timeZone));
  if (away.length > 0) return { kind: 'not begun', away };
  const period = { period: month, timeZone: chooseZone(month, parts, timeZone) };
  for (const { cell, value } of parts) if (value.check) requirePossible(cell.name, value.check, period);
  const answers = await ask(async (context) => {
    const check = await checkPeriod(context.ledger.pool, period, context.now());
    return check.kind === 'already closed'
      ? check.closing
      : closeMonth(context, { month, timeZone: period.timeZone, closedBy });
  });
  return { kind: 'begun', answers };
}

type MonthState = {
  readonly last: Closing | undefined;
  /** In the zone of the call or of the last month; undefined without both: then only another cell knows the zone. */
  readonly check: PeriodCheck | undefined;
};

async function readState(
  { ledger, now }: EngineContext,
  period: string,
  asked: string | undefined,
): Promise<MonthState> {
  const last = (await listClosings(ledger.pool)).at(-1);
  const timeZone = asked ?? last?.timeZone;
  const check =
    timeZone === undefined ? undefined : await checkPeriod(ledger.pool, { period, timeZone }, now());
  return { last, check };
}

/** @throws InputError that names the cell in each problem */
function requirePossible(cell: string, check: PeriodCheck, { period, timeZone }: Period): void {
  if (check.kind === 'can be closed') return;
  if (check.kind === 'already closed' && check.closing.timeZone === timeZone) return;
  try {
    refuseClosing(period, check);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.problems.map((each) => ({ ...each, where: `cell ${cell}: ${each.where}` })));
  }
}

/** All cells close in one zone, or their months would not be the same. */
function chooseZone(
  month: string,
  states: readonly CellPart<MonthState>[],
  asked: string | undefined,
): string {
  const closed = states.flatMap(({ cell, value: { last } }) =>
    last ? [{ cell: cell.name, zone: last.timeZone }] : [],
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
export function checkMonths(parts: readonly CellPart<readonly Closing[]>[]): Check {
  const name = 'closed months of cells';
  const closed = parts.map(({ cell, value }) => ({
    cell: cell.name,
    months: value.map(({ period }) => period),
  }));
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
