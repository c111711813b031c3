import { type Command, InvalidArgumentError } from 'commander';
import { type ListedRun, listRuns } from '../../ledger/runs/find.ts';
import { formatReason, formatReasonOrNull } from '../../platform/reason-text.ts';
import { formatCampaign } from '../../report/run-summary.ts';
import { type Screen, toneOf } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, titleWithZone } from '../../report/time.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Lists the runs, newest first.')
    .option('--limit <number>', 'maximum of runs', parseLimit, 20)
    .option('--json', 'print one JSON object a line')
    .action(async ({ json, limit }: { json?: true; limit: number }) => {
      const runs = await withLedgerToRead(shell, ({ ledger }) => listRuns(ledger.knex, limit));
      if (json) {
        for (const run of runs) shell.print(JSON.stringify(toJson(run)));
      } else {
        shell.print(
          runs.length === 0
            ? 'No runs yet. `volley run <campaign>` makes one.'
            : runTable(runs, shell.screen),
        );
      }
    });
}

function toJson({
  run,
  campaign,
  kind,
  account,
  channel,
  state,
  stateReason,
  createdAt,
  finishedAt,
}: ListedRun) {
  return {
    run,
    campaign,
    kind,
    account,
    channel,
    state,
    reason: formatReasonOrNull(stateReason),
    createdAt,
    finishedAt,
  };
}

function runTable(runs: readonly ListedRun[], screen?: Screen): string {
  return formatTable(
    [
      { title: 'Run', value: ({ run }) => run },
      { title: 'Campaign', value: formatCampaign },
      { title: 'Channel', value: ({ channel }) => channel, minor: 1 },
      {
        title: 'State',
        value: ({ state, stateReason }) => (stateReason ? `${state} (${formatReason(stateReason)})` : state),
        tone: ({ state }) => toneOf(state),
      },
      {
        title: titleWithZone(screen, 'Planned'),
        value: ({ createdAt }) => formatTime(screen, createdAt),
      },
    ],
    runs,
    [],
    screen,
  );
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new InvalidArgumentError('expected a whole number from 1 to 10000.');
}
