import type { RunState } from '../domain.ts';
import type { Sending } from '../ledger/runs/sending.ts';
import type { RunStateChange } from '../ledger/runs/states.ts';

/** What happened to a run as a whole, and when. */
export type TimelineEvent = {
  readonly what: RunState | 'begun' | 'resumed' | 'first request sent' | 'last request sent';
  readonly at: Date;
  /** Why, where there is something to say. */
  readonly reason: string | null;
};

/** In the order of time. A run that runs for the first time is begun, later resumed. */
export function runTimeline(
  states: readonly RunStateChange[],
  { firstAt, lastAt }: Pick<Sending, 'firstAt' | 'lastAt'>,
): TimelineEvent[] {
  const begun = states.findIndex(({ state }) => state === 'running');
  const changes = states.map(({ state, at, reason }, place): TimelineEvent => {
    if (state !== 'running') return { what: state, at, reason };
    return { what: place === begun ? 'begun' : 'resumed', at, reason };
  });
  const sends = [
    ...(firstAt ? [{ what: 'first request sent' as const, at: firstAt, reason: null }] : []),
    ...(lastAt ? [{ what: 'last request sent' as const, at: lastAt, reason: null }] : []),
  ];
  return [...changes, ...sends].sort((one, other) => one.at.getTime() - other.at.getTime());
}
