import { InputError, type Problem } from '../../domain/problems.ts';
import { type Ledger, openLedger } from '../../ledger/connection.ts';
import type { HashKey } from '../../ledger/suppressions/hash.ts';
import { leaseDatabase } from '../../platform/database.ts';
import { connectionReason, isConnectionFailure } from '../../platform/database-failures.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import type { Cell, CellAccess } from './cells-file.ts';

/** What a use case gets in each cell, besides the ledger. */
export type CellTools = Omit<EngineContext, 'ledger'> & {
  readonly settings: Settings;
  readonly findHashKey: () => HashKey | null;
};

/** `away`: the cell cannot be asked, or refuses the question. */
export type CellAnswer<Value> =
  | { readonly kind: 'answered'; readonly cell: Cell; readonly value: Value }
  | { readonly kind: 'away'; readonly cell: Cell; readonly why: string; readonly refusal?: InputError };

/**
 * Opens each cell, asks all of them at once, and closes them. A cell that is away stops no other.
 *
 * @param ask the use case, as for a single ledger
 * @returns in the order of the cells
 * @throws InputError when an address is not set or malformed
 */
export async function askCells<Value>(
  cells: readonly Cell[],
  access: CellAccess,
  tools: CellTools,
  ask: (context: EngineContext, cell: Cell) => Promise<Value>,
): Promise<readonly CellAnswer<Value>[]> {
  const databases = findDatabases(cells, access, tools.settings);
  return Promise.all(
    databases.map(async ({ cell, settings }): Promise<CellAnswer<Value>> => {
      try {
        const ledger = await openWithin(settings, access, tools.findHashKey);
        try {
          return { kind: 'answered', cell, value: await ask({ ...tools, ledger }, cell) };
        } finally {
          // A lost server would not answer the closing.
          ledger.dropConnections();
          await ledger.close().catch(() => undefined);
        }
      } catch (error) {
        return { kind: 'away', cell, ...explainAway(error) };
      }
    }),
  );
}

/** The settings with which each cell is the ledger. @throws InputError naming every address that is not set */
export function findDatabases(
  cells: readonly Cell[],
  access: CellAccess,
  settings: Settings,
): readonly { readonly cell: Cell; readonly settings: Settings }[] {
  const problems: Problem[] = [];
  const found = cells.map((cell) => {
    const { name, where } = cell;
    const variable = cell[access];
    const url = variable === undefined ? undefined : settings.environment[variable];
    if (variable === undefined)
      problems.push({ where, what: `Cell ${name} has no "${access}", which this command needs.` });
    else if (!url)
      problems.push({ where, what: `Environment variable ${variable} is not set.`, unset: variable });
    else if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? ''))
      // The value can contain a password.
      problems.push({ where, what: `${variable} is not the address of a Postgres database.` });
    return { cell, settings: { ...settings, environment: { ...settings.environment, DATABASE_URL: url } } };
  });
  if (problems.length > 0) throw new InputError(problems);
  return found;
}

/** Milliseconds. */
const openTimeout = 8_000;

async function openWithin(
  { environment, workingFolder }: Settings,
  access: CellAccess,
  findHashKey: CellTools['findHashKey'],
): Promise<Ledger> {
  const { connection, description } = await leaseDatabase(environment, workingFolder, false);
  const opening = openLedger(connection, description, {
    access: access === 'read' ? 'read' : 'migrate',
    findHashKey,
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new InputError([{ where: description, what: noAnswer }])),
    openTimeout,
  );
  try {
    return await Promise.race([opening, late]);
  } catch (error) {
    void opening.then((ledger) => ledger.close()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const noAnswer = `There was no answer within ${openTimeout / 1_000} seconds.`;

/** @throws what is neither a lost database nor an InputError */
function explainAway(error: unknown): { readonly why: string; readonly refusal?: InputError } {
  if (isConnectionFailure(error)) return { why: `${connectionReason(error) || 'no answer'}` };
  if (!(error instanceof InputError)) throw error;
  if (isConnectionFailure(error.cause)) return { why: connectionReason(error.cause) || 'no answer' };
  return { why: error.problems.map(({ where, what }) => `${where}: ${what}`).join(' '), refusal: error };
}
