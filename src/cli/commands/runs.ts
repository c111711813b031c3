import { InvalidArgumentError } from 'commander';
import { hasEnded } from '../../domain/runs.ts';
import { awayExits, readCells } from '../cells.ts';
import { defineCommand, option } from '../command.ts';
import { jsonFlag } from '../options.ts';

export const command = defineCommand({
  description: 'Lists the runs, newest first.',
  options: [option('--limit <number>', 'maximum of runs', { read: parseLimit, default: 20 }), jsonFlag],
  exits: awayExits,
  examples: [['volley runs --limit 5', 'list the five newest runs']],
  run: async (shell, _, { limit, json }) => {
    const { noRunsText } = await import('../../engine/runs/named-run.ts');
    const { readWaits } = await import('../../engine/runs/waits.ts');
    const { listRuns } = await import('../../ledger/runs/find.ts');
    const { runColumns } = await import('../../report/lists/runs.ts');
    const { columnsOver, printRows, rowsOf } = await import('../output/print-list.ts');
    const { parts } = await readCells(shell, async ({ ledger, now }) => {
      const found = await listRuns(ledger.knex, limit);
      const unfinished = found.filter(({ state }) => !hasEnded(state)).map(({ run }) => run);
      const waitsOfRun = await readWaits(ledger.pool, unfinished, now());
      return found.map((each) => ({ ...each, waits: waitsOfRun.get(each.run) ?? [] }));
    });
    const newest = rowsOf(parts).toSorted((one, other) => Number(other.createdAt) - Number(one.createdAt));
    const form = { columns: columnsOver(parts, runColumns), none: noRunsText };
    printRows(shell, json, form, newest.slice(0, limit));
  },
});

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new InvalidArgumentError('expected a whole number from 1 to 10000.');
}
