import { InputError } from '../../domain/problems.ts';
import type { Cell } from '../../engine/cells/cells-file.ts';
import type { LedgerPair } from '../../engine/cells/forward-reports.ts';
import type { EngineContext } from '../../engine/context.ts';
import { connectionReason, isConnectionFailure } from '../../platform/database-failures.ts';
import { type Columns, integerColumn, textColumn } from '../../report/column.ts';
import { askAnd, askOne, cellsOf, changeExits, noteAway } from '../cells.ts';
import { argument, defineCommand, defineGroup, option } from '../command.ts';
import { CellsAwayError, explainInput } from '../failures.ts';
import { jsonFlag } from '../options.ts';
import type { Shell } from '../shell.ts';

const map = defineCommand({
  description: 'Prints the cell of each account as a map of nginx, for a proxy in front of all cells.',
  examples: [['volley cells map', 'write the lines that nginx includes']],
  run: async (shell) => {
    // Without the backslash, which nginx drops, an account `default` would be its default.
    for (const { name, accounts } of await requireCells(shell))
      for (const account of accounts) shell.print(`${JSON.stringify(`\\${account}`)} ${name};`);
  },
});

const move = defineCommand({
  description:
    'Moves an account to another cell, between its runs: its suppressions, its limits, and its entry in the file. Past runs stay where they are. After a kill, repeat the command.',
  arguments: [argument('<account>', 'the account that moves')],
  options: [option('--to <cell>', 'the cell that gets it', { required: true }), jsonFlag],
  exits: changeExits,
  examples: [['volley cells move alfa --to south', 'move an account']],
  run: async (shell, [account], { to: name, json }) => {
    const { cellsPath, requireCell, requireCellOf } = await import('../../engine/cells/cells-file.ts');
    const { forbidRuns, moveInFile, takeOver } = await import('../../engine/cells/move-account.ts');
    const { requireSuppressionAccount } = await import('../../engine/suppressions/suppress-addresses.ts');
    const cells = await requireCells(shell);
    const to = requireCell(cells, name, '--to');
    const from = requireCellOf(cells, account, 'cells move');
    if (from === to)
      throw new InputError([{ where: `account ${account}`, what: `It is in cell ${name} already.` }]);
    const names = { from: from.name, to: to.name };
    const suppressionAccount = await requireSuppressionAccount(account, shell.settings);
    let isForbidden = false;
    const moved = await askBoth(shell, [from, to], async (before, after) => {
      const moving = { account, suppressionAccount, from: before, to: after, cells: names };
      await forbidRuns(moving);
      isForbidden = true;
      return takeOver(moving);
    })
      .then(async (result) => {
        await moveInFile(cellsPath(shell.settings) ?? '', shell.settings.workingFolder, account, names);
        return result;
      })
      .catch((error: unknown) => {
        if (isForbidden)
          shell.note(`No run of ${account} starts in cell ${from.name} any more. Repeat the command.`);
        else if (error instanceof CellsAwayError) shell.note('Repeat the command when both cells answer.');
        throw error;
      });
    if (json) return shell.print(JSON.stringify({ account, ...names, ...moved }));
    shell.print(`Account ${account} is in cell ${to.name}. ${moved.suppressions} suppressions were copied.`);
    shell.note(
      `Let the proxy and cell ${to.name} know it: \`volley cells map\`, its accounts file, its campaigns.`,
    );
    if (moved.tokens.length > 0)
      shell.note(
        `Tokens that stay in cell ${from.name}: ${moved.tokens.join(', ')}. Create others in ${to.name}.`,
      );
  },
});

const forward = defineCommand({
  description:
    'Hands delivery reports and replies that arrived in the new cell of a moved account to the cell that sent the message, and takes over the suppressions that come of them. For cron; none counts twice.',
  options: [jsonFlag],
  exits: changeExits,
  examples: [['volley cells forward', 'after a move, every few minutes']],
  run: async (shell, _, { json }) => {
    const { listMoved } = await import('../../ledger/moves/moves.ts');
    const { printRows } = await import('../output/print-list.ts');
    const { parts, away } = await askAnd(shell, await requireCells(shell), 'read', ({ ledger }) =>
      listMoved(ledger.pool),
    );
    noteAway(shell, { parts: [], away });
    const accounts = new Set(parts.flatMap(({ value }) => value.map(({ account }) => account)));
    const rows: ForwardedRow[] = [];
    // An account may have been in any cell, and its reports may have arrived in any other.
    for (const { cell: old, value: moved } of parts)
      for (const { cell: current } of parts.filter(({ cell }) => cell !== old && accounts.size > 0))
        await goOnAfter(shell, () =>
          askBoth(shell, [old, current], async (sender, receiver) => {
            for (const account of accounts)
              await goOnAfter(shell, async () => {
                const pair = {
                  old: sender,
                  current: receiver,
                  cells: { old: old.name, current: current.name },
                };
                const left = moved.find(
                  (each) => each.account === account && current.accounts.includes(account),
                );
                const row = await forwardAccount(shell, account, left?.movedAt, pair);
                if (row) rows.push(row);
              });
          }),
        );
    printRows(shell, json, { columns: forwardedColumns, none: 'No account has moved.' }, rows);
  },
});

/** Notes why an account or a cell is left out. The others go on. */
async function goOnAfter(shell: Shell, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    explainInput(error, shell);
    shell.exitWith(3);
  });
}

/** @param movedAt when the account left the old cell, if it is in the current one now */
async function forwardAccount(
  { settings }: Shell,
  account: string,
  movedAt: Date | undefined,
  pair: LedgerPair,
) {
  const { forwardReports, takeSuppressions } = await import('../../engine/cells/forward-reports.ts');
  const { requireSuppressionAccount } = await import('../../engine/suppressions/suppress-addresses.ts');
  const reports = await forwardReports(account, pair);
  if (movedAt === undefined && reports === 0) return undefined;
  const suppressions = movedAt
    ? await takeSuppressions(await requireSuppressionAccount(account, settings), movedAt, pair)
    : 0;
  return { account, from: pair.cells.current, to: pair.cells.old, reports, suppressions };
}

type ForwardedRow = NonNullable<Awaited<ReturnType<typeof forwardAccount>>>;

const forwardedColumns: Columns<ForwardedRow> = [
  textColumn('account', 'Account'),
  textColumn('from', 'From cell'),
  textColumn('to', 'To cell'),
  integerColumn('reports', 'Delivery reports'),
  integerColumn('suppressions', 'Suppressions taken over'),
];

export const command = defineGroup('Moves accounts between cells.', {
  move,
  forward,
  map,
});

/** @throws InputError without a file of cells */
async function requireCells(shell: Shell): Promise<readonly Cell[]> {
  const cells = await cellsOf(shell);
  if (cells) return cells;
  throw new InputError([{ where: 'VOLLEY_CELLS', what: 'It is not set. Set it to the file of the cells.' }]);
}

/**
 * Works with the ledgers of two cells at once.
 *
 * @throws InputError when the work refuses
 * @throws CellsAwayError naming the cell that is away, or both when the connection to one was lost for a moment
 */
async function askBoth<Value>(
  shell: Shell,
  [one, other]: readonly [Cell, Cell],
  work: (one: EngineContext, other: EngineContext) => Promise<Value>,
): Promise<Value> {
  return askOne(shell, one, 'write', (first) =>
    askOne(shell, other, 'write', (second) =>
      work(first, second).catch(async (error: unknown) => {
        if (!isConnectionFailure(error)) throw error;
        await second.ledger.pool.query('SELECT');
        const what = `The connection to one of them was lost (${connectionReason(error)}).`;
        throw new CellsAwayError([{ where: `cells ${one.name} and ${other.name}`, what }]);
      }),
    ).catch(async (error: unknown) => {
      if (error instanceof CellsAwayError) await first.ledger.pool.query('SELECT');
      throw error;
    }),
  );
}
