import { InputError } from '../../domain/problems.ts';
import type { Cell } from '../../engine/cells/cells-file.ts';
import type { Forwarded } from '../../engine/cells/forward-reports.ts';
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
    const moved = await askOne(shell, from, 'write', (before) =>
      askOne(shell, to, 'write', async (after) => {
        const moving = { account, suppressionAccount, from: before, to: after, cells: names };
        await forbidRuns(moving);
        isForbidden = true;
        return takeOver(moving);
      }),
    )
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
    const { forwardReports } = await import('../../engine/cells/forward-reports.ts');
    const { requireCell } = await import('../../engine/cells/cells-file.ts');
    const { listMoved } = await import('../../ledger/moves/moved-accounts.ts');
    const { requireSuppressionAccount } = await import('../../engine/suppressions/suppress-addresses.ts');
    const { printRows } = await import('../output/print-list.ts');
    const cells = await requireCells(shell);
    const answers = await askAnd(shell, cells, 'read', ({ ledger }) => listMoved(ledger.pool));
    noteAway(
      shell,
      answers.filter((answer) => answer.kind === 'away'),
    );
    const rows: ForwardedRow[] = [];
    for (const answer of answers) {
      for (const moved of answer.kind === 'answered' ? answer.value : []) {
        const suppressionAccount = await requireSuppressionAccount(moved.account, shell.settings);
        const { name: cell } = answer.cell;
        const to = requireCell(cells, moved.cell, `account ${moved.account}`);
        const forwarded = await askOne(shell, answer.cell, 'write', (old) =>
          askOne(shell, to, 'write', (current) =>
            forwardReports({ moved, suppressionAccount, cell, old, current }),
          ),
        ).catch((error: unknown) => {
          // The other accounts go on.
          if (!(error instanceof InputError)) throw error;
          explainInput(error, shell);
          shell.exitWith(3);
        });
        if (forwarded) rows.push({ account: moved.account, from: moved.cell, to: cell, ...forwarded });
      }
    }
    printRows(shell, json, { columns: forwardedColumns, none: 'No account has moved.' }, rows);
  },
});

type ForwardedRow = Forwarded & { readonly account: string; readonly from: string; readonly to: string };

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
