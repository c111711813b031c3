import type { RunState } from '../domain/runs.ts';
import type { RunStateChange } from '../ledger/runs/details.ts';
import type { Sending } from '../ledger/runs/sending.ts';
import { reasonWordsOrNull } from '../platform/reason-words.ts';

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
  const changes = states.map(({ state, at, reason: known }, place): TimelineEvent => {
    const reason = reasonWordsOrNull(known);
    if (state !== 'running') return { what: state, at, reason };
    return { what: place === begun ? 'begun' : 'resumed', at, reason };
  });
  const sends = [
    ...(firstAt ? [{ what: 'first request sent' as const, at: firstAt, reason: null }] : []),
    ...(lastAt ? [{ what: 'last request sent' as const, at: lastAt, reason: null }] : []),
  ];
  return [...changes, ...sends].sort(
    (one, other) => one.at.getTime() - other.at.getTime() || rank(one.what) - rank(other.what),
  );
}

/** Within a millisecond: what has to be before something is sent, that, what can only be after it. */
function rank(what: TimelineEvent['what']): number {
  if (what === 'first request sent' || what === 'last request sent') return 1;
  return what === 'planned' || what === 'begun' || what === 'resumed' ? 0 : 2;
}
