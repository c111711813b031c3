import { open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { readRateLimits, setRateLimits } from '../../ledger/limits/rate-limits.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { canShareHashes, copySuppressions } from '../../ledger/moves/copy-suppressions.ts';
import { findMoved, lockAccount, markArrived, markMoved } from '../../ledger/moves/moves.ts';
import { listUnfinishedRuns } from '../../ledger/runs/find.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { listTokens } from '../../ledger/tokens/tokens.ts';
import { errorMessage, hasCode } from '../../platform/file-error.ts';
import { listNames } from '../../platform/suggestions.ts';
import { moveListItem } from '../../platform/yaml-nodes.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { readCells } from './cells-file.ts';

/** An account that moves between the ledgers of two cells. */
export type Move = {
  readonly account: string;
  /** The account whose suppressions it obeys. */
  readonly suppressionAccount: string;
  readonly from: EngineContext;
  readonly to: EngineContext;
  /** Names of the cells. */
  readonly cells: { readonly from: string; readonly to: string };
};

export type Moved = {
  readonly suppressions: number;
  /** Tokens of the old cell that can use the account. They stay there. */
  readonly tokens: readonly string[];
};

/**
 * The first step: from its end on, no run of the account is planned in the old ledger. It can be repeated.
 *
 * @throws InputError when a run of the account is not over, or the move could not be completed; nothing is changed then
 */
export async function forbidRuns(move: Move): Promise<void> {
  const { account, from, to, cells } = move;
  const where = `account ${account}`;
  const entry = { action: 'account moved', subject: account, details: cells } as const;
  await audited(from, entry, (addAuditEntry) =>
    inTransaction(from.ledger.pool, async (client) => {
      await requireNoHold(client, cells.from);
      await requireNoRun(client, account, cells.from);
      // An arrival deletes the mark, so this move has not ended, and the cell that it names may send.
      const begun = await findMoved(client, account);
      if (begun && begun.cell !== cells.to) {
        const what = `It is on its way to cell ${begun.cell}. Repeat \`volley cells move ${account} --to ${begun.cell}\` first.`;
        throw new InputError([{ where, what }]);
      }
      await inTransaction(to.ledger.pool, async (there) => {
        await requireSharedHashes(client, there, cells);
        if (begun === undefined) await requireNoRun(there, account, cells.to);
      });
      await markMoved(client, { account, cell: cells.to, movedAt: from.now() });
      await addAuditEntry(client);
    }),
  );
}

/** The second step, after `forbidRuns`: from its end on, runs can be planned in the new ledger. It can be repeated. */
export async function takeOver(move: Move): Promise<Moved> {
  const { account, from } = move;
  const suppressions = await inTransaction(
    from.ledger.pool,
    (client) => copyInto(client, move),
    'BEGIN ISOLATION LEVEL REPEATABLE READ',
  );
  const tokens = await listTokens(from.ledger.pool);
  const named = tokens.filter(({ accounts, revokedAt }) => revokedAt === null && accounts?.includes(account));
  return { suppressions, tokens: named.map(({ name }) => name) };
}

/** A restored ledger may lack runs and suppressions. */
async function requireNoHold(client: Transaction, cell: string): Promise<void> {
  const { holdReason } = await readLocation(client);
  if (holdReason === null) return;
  const what = `Its ledger is on hold, so no account moves away from it: ${formatReason(holdReason)}`;
  throw new InputError([{ where: `cell ${cell}`, what }]);
}

async function requireNoRun(client: Transaction, account: string, cell: string): Promise<void> {
  const where = `account ${account}`;
  await lockAccount(client, account).catch((error: unknown) => {
    if (!hasCode(error, '55P03')) throw error;
    const what = `A run of it is being planned in cell ${cell}. Move it when no run is going on.`;
    throw new InputError([{ where, what }]);
  });
  const runs = (await listUnfinishedRuns(client)).filter((run) => run.account === account);
  if (runs.length === 0) return;
  const what = `It moves between runs, and these of cell ${cell} are not over: ${listNames(runs.map(({ run }) => run))}. Wait, or end them with \`volley cancel\`.`;
  throw new InputError([{ where, what }]);
}

async function copyInto(client: Transaction, move: Move): Promise<number> {
  const { account, suppressionAccount, to, cells } = move;
  const limits = await readRateLimits(client, account);
  const entry = { action: 'account moved', subject: account, details: cells } as const;
  return audited(to, entry, (addAuditEntry) =>
    inTransaction(
      to.ledger.pool,
      async (there) => {
        await requireSharedHashes(client, there, cells);
        const copied = await copySuppressions(client, there, suppressionAccount, null);
        await setRateLimits(there, account, limits);
        await markArrived(there, account);
        await addAuditEntry(there);
        return copied;
      },
      // Without the idle timeout: the rows come from another server.
      'BEGIN',
    ),
  );
}

/** @throws InputError when the other ledger could not compare what is hashed */
export async function requireSharedHashes(
  client: Transaction,
  there: Transaction,
  { from, to }: Move['cells'],
): Promise<void> {
  if (await canShareHashes(client, there)) return;
  const what = `Suppressions of cell ${from} are hashed, and cell ${to} has not proved that it has their key. Set the VOLLEY_HASH_KEY of ${from} in ${to}, run \`volley purge\` there once, then repeat the command.`;
  throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
}

/**
 * Writes the new cell of the account into the file, all at once.
 *
 * @param path as errors show it
 * @throws InputError when the file cannot be written, or was changed meanwhile
 */
export async function moveInFile(
  path: string,
  workingFolder: string,
  account: string,
  { from, to }: Move['cells'],
): Promise<void> {
  // A symbolic link stays one.
  const file = await realpath(resolve(workingFolder, path));
  const source = await readFile(file, 'utf8');
  const listed = readCells(source, path).find(({ accounts }) => accounts.includes(account));
  if (listed?.name !== from) {
    const what = `It was changed meanwhile: account "${account}" is not in cell ${from}. Repeat the command.`;
    throw new InputError([{ where: path, what }]);
  }
  const accountsOf = (cell: string): string[] => ['cells', cell, 'accounts'];
  const changed = moveListItem(source, account, accountsOf(from), accountsOf(to));
  readCells(changed, path);
  const unfinished = `${file}.${process.pid}.new`;
  try {
    await removeUnfinished(file);
    const { mode } = await stat(file);
    const handle = await open(unfinished, 'wx', 0o600);
    try {
      await handle.writeFile(changed);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    const what = `It cannot be written (${errorMessage(error)}). Write there that account "${account}" is in cell ${to}, or repeat the command.`;
    throw new InputError([{ where: path, what }], { cause: error });
  }
}

/** Of killed moves. One that is going on fails then, and can be repeated. */
async function removeUnfinished(file: string): Promise<void> {
  const folder = dirname(file);
  const isUnfinished = (name: string): boolean =>
    name.startsWith(`${basename(file)}.`) && /^\d+\.new$/.test(name.slice(basename(file).length + 1));
  for (const name of (await readdir(folder)).filter(isUnfinished))
    await rm(resolve(folder, name), { force: true });
}
