import type { Definition } from '../../campaign/definition.ts';
import type { FrequencyCap } from '../../ledger/planning/planned-run.ts';

export function toFrequencyCap({ campaign, contacts }: Definition, now: Date): FrequencyCap | undefined {
  if (contacts.notWithin === undefined) return undefined;
  const { milliseconds, by } = contacts.notWithin;
  return {
    since: new Date(now.getTime() - milliseconds),
    campaign: by === 'campaign' ? campaign : null,
    milliseconds,
  };
}
