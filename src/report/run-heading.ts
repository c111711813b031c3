import type { RunDetails } from './run-details.ts';
import { formatCampaign } from './run-summary.ts';

export function formatRunHeading({ summary, stateReason, account, channel }: RunDetails): {
  readonly title: string;
  readonly subtitle: readonly string[];
} {
  const { run, state } = summary;
  return {
    title: `Run ${run}`,
    subtitle: [
      `campaign ${formatCampaign(summary)}, account ${account}, ${channel}`,
      stateReason ? `${state}: ${stateReason}` : state,
    ],
  };
}
