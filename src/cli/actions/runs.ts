import { hasEnded } from '../../domain/runs.ts';
import type { RunWait } from '../../domain/waits.ts';
import { readWaits } from '../../engine/runs/waits.ts';
import { type ListedRun, listRuns } from '../../ledger/runs/find.ts';
import { formatReason, formatReasonOrNull } from '../../platform/reason-text.ts';
import { formatCampaign } from '../../report/run-summary.ts';
import { type Screen, toneOf } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, titleWithZone } from '../../report/time.ts';
import { shortWait } from '../../report/wait-words.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export async function runsAction(
  shell: Shell,
  { json, limit }: { json?: true; limit: number },
): Promise<void> {
  const { runs, waitsOfRun } = await withLedgerToRead(shell, async ({ ledger, now }) => {
    const runs = await listRuns(ledger.knex, limit);
    const unfinished = runs.filter(({ state }) => !hasEnded(state)).map(({ run }) => run);
    return { runs, waitsOfRun: await readWaits(ledger.pool, unfinished, now()) };
  });
  if (json) {
    for (const run of runs) shell.print(JSON.stringify(toJson(run)));
  } else {
    shell.print(
      runs.length === 0
        ? 'No runs yet. `volley run <campaign>` makes one.'
        : runTable(runs, waitsOfRun, shell.screen),
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

function runTable(
  runs: readonly ListedRun[],
  waitsOfRun: ReadonlyMap<string, readonly RunWait[]>,
  screen?: Screen,
): string {
  return formatTable(
    [
      { title: 'Run', value: ({ run }) => run },
      { title: 'Campaign', value: formatCampaign },
      { title: 'Channel', value: ({ channel }) => channel, minor: 1 },
      {
        title: 'State',
        value: ({ run, state, stateReason }) => {
          const reason = stateReason ? formatReason(stateReason) : shortWait(waitsOfRun.get(run) ?? []);
          return reason === undefined ? state : `${state} (${reason})`;
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
