import type { RunDetails } from './run-details.ts';

export function formatRunHeading({ summary, stateReason, account, channel }: RunDetails): {
  readonly title: string;
  readonly subtitle: readonly string[];
} {
  const { run, campaign, state } = summary;
  return {
    title: `Run ${run}`,
    subtitle: [
      `campaign ${campaign}, account ${account}, ${channel}`,
      stateReason ? `${state}: ${stateReason}` : state,
    ],
  };
}
