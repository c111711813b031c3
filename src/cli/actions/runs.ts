import { readWorkers } from '../../ledger/operations/workers.ts';
import { type ListedRun, listRuns } from '../../ledger/runs/find.ts';
import { formatReason, formatReasonOrNull } from '../../platform/reason-text.ts';
import { formatCampaign } from '../../report/run-summary.ts';
import { type Screen, toneOf } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, titleWithZone } from '../../report/time.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export async function runsAction(
  shell: Shell,
  { json, limit }: { json?: true; limit: number },
): Promise<void> {
  const { runs, attended } = await withLedgerToRead(shell, async ({ ledger }) => {
    const { workers } = await readWorkers(ledger.pool);
    return { runs: await listRuns(ledger.knex, limit), attended: workers > 0 };
  });
  if (json) {
    for (const run of runs) shell.print(JSON.stringify(toJson(run)));
  } else {
    shell.print(
      runs.length === 0
        ? 'No runs yet. `volley run <campaign>` makes one.'
        : runTable(runs, attended, shell.screen),
    );
  }
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

/** @param attended whether a worker runs */
function runTable(runs: readonly ListedRun[], attended: boolean, screen?: Screen): string {
  return formatTable(
    [
      { title: 'Run', value: ({ run }) => run },
      { title: 'Campaign', value: formatCampaign },
      { title: 'Channel', value: ({ channel }) => channel, minor: 1 },
      {
        title: 'State',
        value: ({ state, stateReason }) => {
          const unattended = state === 'running' && !attended ? 'no process sends it' : null;
          const reason = stateReason ? formatReason(stateReason) : unattended;
          return reason === null ? state : `${state} (${reason})`;
        },
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
