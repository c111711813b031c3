import { InputError, type Problem } from '../domain/problems.ts';
import type { Away, CellAnswers, CellPart } from '../engine/cells/ask-cells.ts';
import type { Cell, CellAccess } from '../engine/cells/cells-file.ts';
import type { EngineContext } from '../engine/context.ts';
import type { ListedRun, RunFilter } from '../ledger/runs/find.ts';
import { CellsAwayError } from './failures.ts';
import { type Shell, withLedgerToRead } from './shell.ts';

/** What one ledger said. */
export type Part<Value> = { readonly cell: string | null; readonly value: Value };

/** The file of VOLLEY_CELLS; undefined: commands use the ledger of the project. @throws InputError for a faulty one */
export async function cellsOf({ settings }: Pick<Shell, 'settings'>): Promise<readonly Cell[] | undefined> {
  if (!settings.environment['VOLLEY_CELLS']) return undefined;
  return (await import('../engine/cells/cells-file.ts')).loadCells(settings);
}

/**
 * Asks every cell, or the ledger of the project where there are none. Names each cell that is away; the command then
 * ends with 3.
 *
 * @throws InputError when every cell refuses the question
 * @throws CellsAwayError when none answers
 */
export async function readCells<Value>(shell: Shell, ask: (context: EngineContext) => Promise<Value>) {
  const cells = await cellsOf(shell);
  if (cells === undefined)
    return { parts: [ofProject(await withLedgerToRead(shell, ask))], away: [], gaps: [] };
  const answers = await askAnd(shell, cells, 'read', ask);
  throwCommonRefusal(answers);
  const { parts, away } = answers;
  if (parts.length === 0) throw new CellsAwayError(away.map(problemOf));
  noteAway(shell, answers);
  const names = away.map(({ cell }) => cell.name);
  const gaps = [
    ...(names.length > 0 ? [`without the cells that are away: ${names.join(', ')}`] : []),
    ...standbysOf(parts).map((cell) => `cell ${cell} is read from ${standby}`),
  ];
  /** `away`: the cells whose part is missing. `gaps`: what a report says of what it lacks, or may lack. */
  return { parts: namedParts(parts), away: names, gaps };
}

const ofProject = <Value>(value: Value): Part<Value> => ({ cell: null, value });

export const namedParts = <Value>(parts: readonly CellPart<Value>[]): Part<Value>[] =>
  parts.map(({ cell, value }) => ({ cell: cell.name, value }));

const standby = 'a standby, which may lack the newest';

const standbysOf = (parts: readonly CellPart<unknown>[]): string[] =>
  parts.filter(({ isStandby }) => isStandby).map(({ cell }) => cell.name);

/** @throws InputError when every cell refuses the question */
function throwCommonRefusal({ parts, away }: CellAnswers<unknown>): void {
  const [first] = away;
  if (parts.length === 0 && first?.refusal && away.every(({ refusal }) => refusal)) throw first.refusal;
}

export const problemOf = ({ cell, why }: Away): Problem => ({
  where: `cell ${cell.name}`,
  what: `It is away, and what it knows is missing (${why}).`,
});

/** Asks with the tools of this process. */
export async function askAnd<Value>(
  shell: Shell,
  cells: readonly Cell[],
  access: CellAccess,
  ask: (context: EngineContext, cell: Cell) => Promise<Value>,
): Promise<CellAnswers<Value>> {
  const { askCells } = await import('../engine/cells/ask-cells.ts');
  const { hashKeyFinder, toolsOf } = await import('./open-context.ts');
  const { settings } = shell;
  const tools = { ...toolsOf(shell), settings, findHashKey: hashKeyFinder(settings) };
  return askCells(cells, access, tools, ask);
}

/** @throws InputError when the cell refuses it @throws CellsAwayError when it is away */
export async function askOne<Value>(
  shell: Shell,
  cell: Cell,
  access: CellAccess,
  ask: (context: EngineContext) => Promise<Value>,
): Promise<Value> {
  const {
    parts: [part],
    away,
  } = await askAnd(shell, [cell], access, ask);
  if (part) return part.value;
  throw away[0]?.refusal ?? new CellsAwayError(away.map(problemOf));
}

/**
 * Says which cells a change failed in: the command ends with 3, and can be repeated.
 *
 * @throws InputError when every cell refuses it
 */
export function noteUnchanged(shell: Shell, answers: CellAnswers<unknown>): void {
  throwCommonRefusal(answers);
  const { away } = answers;
  if (away.length === 0) return;
  const names = away.map(({ cell }) => cell.name).join(', ');
  shell.note(`Not done in ${names}. Repeat the command; what is done in the other cells stays as it is.`);
  shell.exitWith(3);
}

/** Says which cells are away, and which may lack the newest. */
export function noteAway(shell: Shell, { parts, away }: CellAnswers<unknown>): void {
  for (const { where, what } of away.map(problemOf)) {
    shell.note(`${where}: ${what}`);
    shell.exitWith(3);
  }
  for (const cell of standbysOf(parts)) shell.note(`cell ${cell}: It is read from ${standby}.`);
}

export const changeExits = { 3: 'it failed in a cell; repeat the command' } as const;

export const awayExits = { 3: 'a cell is away, and what it knows is missing' } as const;

/**
 * Works with a run in the ledger that has it. Prints which run that is, unless the user wrote its whole id.
 *
 * @throws InputError for an ambiguous name
 * @throws CellsAwayError when the run is not found, and a cell is away
 */
export async function withLedgerOfRun(
  shell: Shell,
  { name, filter }: { readonly name: string; readonly filter?: Pick<RunFilter, 'kind'> },
  work: (context: EngineContext, run: string) => Promise<void>,
): Promise<void> {
  const cells = await cellsOf(shell);
  const { chooseRun } = await import('./runs/choose-run.ts');
  if (cells === undefined)
    return withLedgerToRead(shell, async (context) =>
      work(context, await chooseRun(shell, context, name, filter)),
    );
  const { cell, run } = await chooseRunOfCells(shell, cells, { name, filter });
  await askOne(shell, cell, 'read', (context) => work(context, run.run));
}

type FoundRun = { readonly cell: Cell; readonly run: ListedRun };

/**
 * Like `chooseRun`, in all cells.
 *
 * @throws InputError for an ambiguous name, and an unknown run
 * @throws CellsAwayError when the run is not found, and a cell is away
 */
export async function chooseRunOfCells(
  shell: Shell,
  cells: readonly Cell[],
  { name, filter }: { readonly name: string; readonly filter?: Pick<RunFilter, 'kind'> | undefined },
): Promise<FoundRun> {
  const { findRunIfAny, latest, noRunsText } = await import('../engine/runs/named-run.ts');
  const { noSuchRun } = await import('../engine/runs/find-run.ts');
  const answers = await askAnd(shell, cells, 'read', (context) => findRunIfAny(context, name, filter));
  const { parts, away } = answers;
  for (const { refusal } of away) if (refusal) throw refusal;
  const newest = parts
    .flatMap(({ cell, value: run }) => (run ? [{ cell, run }] : []))
    .toSorted((one, other) => Number(other.run.createdAt) - Number(one.run.createdAt));
  const [found] = newest;
  if (found === undefined) {
    const what = 'The cells that answer do not have it.';
    if (away.length > 0) throw new CellsAwayError([{ where: `run ${name}`, what }, ...away.map(problemOf)]);
    if (name === latest) throw new InputError([{ where: `run ${latest}`, what: noRunsText }]);
    return noSuchRun(name);
  }
  const isWholeId = found.run.run === name;
  if (newest.length > 1 && name !== latest && !isWholeId)
    throw new InputError(
      newest.map(({ cell, run }) => ({ where: `run ${run.run}`, what: `It is in cell ${cell.name}.` })),
    );
  noteAway(shell, isWholeId ? { parts: parts.filter(({ cell }) => cell === found.cell), away: [] } : answers);
  if (isWholeId) return found;
  const { noteRun } = await import('./runs/choose-run.ts');
  noteRun(shell, found.run, found.cell.name);
  return found;
}
