import type { RunWait } from '../domain/waits.ts';
import type { ListedRun } from '../ledger/runs/find.ts';
import { formatReason, formatReasonOrNull } from '../platform/reason-text.ts';
import { formatCampaign } from './run-summary.ts';
import { type Screen, toneOf } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, titleWithZone } from './time.ts';
import { shortWait } from './wait-words.ts';

export function runToJson({
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

export function runTable(
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
