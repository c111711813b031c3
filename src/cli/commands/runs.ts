import { InvalidArgumentError } from 'commander';
import { hasEnded } from '../../domain/runs.ts';
import { defineCommand, flag, option } from '../command.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: 'Lists the runs, newest first.',
  options: [
    option('--limit <number>', 'maximum of runs', { read: parseLimit, otherwise: 20 }),
    flag('--json', 'print one JSON object a line'),
  ],
  examples: [['volley runs --limit 5', 'list the five newest runs']],
  run: async (shell, _, { limit, json }) => {
    const { readWaits } = await import('../../engine/runs/waits.ts');
    const { listRuns } = await import('../../ledger/runs/find.ts');
    const { runTable, runToJson } = await import('../../report/run-table.ts');
    const { runs, waitsOfRun } = await withLedgerToRead(shell, async ({ ledger, now }) => {
      const runs = await listRuns(ledger.knex, limit);
      const unfinished = runs.filter(({ state }) => !hasEnded(state)).map(({ run }) => run);
      return { runs, waitsOfRun: await readWaits(ledger.pool, unfinished, now()) };
    });
    if (json) for (const run of runs) shell.print(JSON.stringify(runToJson(run)));
    else if (runs.length === 0) shell.print('No runs yet. `volley run <campaign>` makes one.');
    else shell.print(runTable(runs, waitsOfRun, shell.screen));
  },
});

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new InvalidArgumentError('expected a whole number from 1 to 10000.');
}
