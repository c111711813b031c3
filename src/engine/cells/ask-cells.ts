import { InputError, type Problem } from '../../domain/problems.ts';
import { type Ledger, openLedger } from '../../ledger/connection.ts';
import { type LedgerLocation, readLocation } from '../../ledger/location/location.ts';
import { openInspection } from '../../ledger/pools.ts';
import type { HashKey } from '../../ledger/suppressions/hash.ts';
import { leaseDatabase } from '../../platform/database.ts';
import {
  connectionReason,
  isConnectionFailure,
  isOfDatabase,
  loggableReason,
} from '../../platform/database-failures.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import type { Cell, CellAccess } from './cells-file.ts';

/** What a use case gets in each cell, besides the ledger. */
export type CellTools = Omit<EngineContext, 'ledger'> & {
  readonly settings: Settings;
  readonly findHashKey: () => HashKey | null;
};

/** Both in the order of the cells. */
export type CellAnswers<Value> = {
  readonly parts: readonly CellPart<Value>[];
  readonly away: readonly Away[];
};

/** What one cell said. */
export type CellPart<Value> = {
  readonly kind: 'answered';
  readonly cell: Cell;
  readonly value: Value;
  /** Its server only replays changes of another, and may lack the newest. */
  readonly isStandby: boolean;
};

/** A cell that cannot be asked, or refuses the question; only then there is a `refusal`. */
export type Away = {
  readonly kind: 'away';
  readonly cell: Cell;
  readonly why: string;
  readonly refusal?: InputError;
};

/**
 * Opens each cell, asks all of them at once, and closes them. A cell that is away stops no other.
 *
 * @param ask the use case, as for a single ledger
 * @throws InputError when an address is not set or malformed, or two cells have one ledger; then none is asked
 */
export async function askCells<Value>(
  cells: readonly Cell[],
  access: CellAccess,
  tools: CellTools,
  ask: (context: EngineContext, cell: Cell) => Promise<Value>,
): Promise<CellAnswers<Value>> {
  const databases = findDatabases(cells, access, tools.settings);
  const opened = await Promise.all(
    databases.map(({ cell, settings }) => openCell(cell, settings, access, tools.findHashKey)),
  );
  try {
    requireOwnLedgers(opened, access);
    const answers = await settleAll(
      opened.map(async (each) => {
        if (each.kind === 'away') return each;
        const stopWatching = endWhenSilent(each.ledger, tools.monotonic);
        return askCell(each, (ledger) => ask({ ...tools, ledger }, each.cell)).finally(stopWatching);
      }),
    );
    return {
      parts: answers.filter((answer) => answer.kind === 'answered'),
      away: answers.filter((answer) => answer.kind === 'away'),
    };
  } finally {
    await Promise.all(
      opened.map(async (each) => {
        if (each.kind === 'away') return;
        // A lost server would not answer the closing.
        each.ledger.dropConnections();
        await each.ledger.close().catch(() => undefined);
      }),
    );
  }
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

type OpenCell = {
  readonly kind: 'open';
  readonly cell: Cell;
  readonly ledger: Ledger;
  readonly identity: LedgerLocation;
  /** The ledger that reads would ask; undefined: it is asked now, or cannot be. */
  readonly read: string | undefined;
};

/** Milliseconds. A command waits no longer for a server that says nothing, at first or later. */
const longestSilence = 8_000;

/** Ends the connections of a server that stops. A statement may take any time while the server answers others. */
function endWhenSilent({ monitoring, dropConnections }: Ledger, monotonic: () => number): () => void {
  let answeredAt = monotonic();
  const noteAnswer = (): void => {
    answeredAt = monotonic();
  };
  const timer = setInterval(() => {
    if (monotonic() - answeredAt > longestSilence) dropConnections();
    else monitoring.query('SELECT').then(noteAnswer, () => undefined);
  }, 1_000);
  return () => clearInterval(timer);
}

async function openCell(
  cell: Cell,
  { environment, workingFolder }: Settings,
  access: CellAccess,
  findHashKey: CellTools['findHashKey'],
): Promise<OpenCell | Away> {
  try {
    const lease = await leaseDatabase(environment, workingFolder, false);
    const connection = { ...lease.connection, connectionTimeoutMillis: longestSilence };
    const ledger = await openLedger(connection, lease.description, { access, findHashKey });
    try {
      const read = access === 'read' ? undefined : await findLedger(environment[cell.read]);
      return { kind: 'open', cell, ledger, identity: await readLocation(ledger.pool), read };
    } catch (error) {
      await ledger.close();
      throw error;
    }
  } catch (error) {
    return { kind: 'away', cell, why: reasonOf(error) };
  }
}

async function findLedger(connectionString: string | undefined): Promise<string | undefined> {
  if (!connectionString) return undefined;
  const { pool, close } = openInspection({ connectionString });
  const identity = await readLocation(pool).catch(() => undefined);
  await close();
  return identity?.ledger;
}

/** @throws InputError for a ledger that would be asked twice, and for a cell that reads another one than it changes */
function requireOwnLedgers(opened: readonly (OpenCell | Away)[], access: CellAccess): void {
  const owners = new Map<string, Cell>();
  for (const each of opened) {
    if (each.kind === 'away') continue;
    const { cell, identity, read = identity.ledger } = each;
    if (read !== identity.ledger) {
      const what = `Cell ${cell.name} reads another ledger than it changes: ${cell.read} and ${cell.write} name two. Correct one of them.`;
      throw new InputError([{ where: cell.where, what }]);
    }
    const owner = owners.get(identity.ledger);
    owners.set(identity.ledger, cell);
    if (owner === undefined) continue;
    const what = `Cell ${cell.name} has the ledger of cell ${owner.name}: ${cell[access]} and ${owner[access]} name the same one. Correct one of them.`;
    throw new InputError([{ where: cell.where, what }]);
  }
}

/** @throws what is neither of Postgres nor an InputError */
async function askCell<Value>(
  { cell, ledger, identity }: OpenCell,
  ask: (ledger: Ledger) => Promise<Value>,
): Promise<CellPart<Value> | Away> {
  try {
    return { kind: 'answered', cell, value: await ask(ledger), isStandby: identity.isStandby };
  } catch (error) {
    const why = reasonOf(error);
    if (isOfDatabase(error) || (error instanceof InputError && isOfDatabase(error.cause)))
      return { kind: 'away', cell, why };
    if (error instanceof InputError) return { kind: 'away', cell, why, refusal: error };
    throw error;
  }
}

/** Lets all end before the first failure is thrown. */
async function settleAll<Value>(all: readonly (Value | Promise<Value>)[]): Promise<readonly Value[]> {
  await Promise.allSettled(all);
  return Promise.all(all);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof InputError && isOfDatabase(error.cause) ? error.cause : error;
  if (cause instanceof InputError)
    return cause.problems.map(({ where, what }) => `${where}: ${what}`).join(' ');
  return (isConnectionFailure(cause) ? connectionReason(cause) : loggableReason(cause)) || 'no answer';
}
