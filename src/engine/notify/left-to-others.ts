import { toldWithin } from './tell-wait.ts';

/** What a process cannot tell, because it lacks something, is left to others for so long (milliseconds). */
const leftFor = 30_000;

export type LeftToOthers = {
  readonly ids: () => string[];
  readonly leave: (notification: string) => void;
  /** Whether this is the first time that it is asked of a notification. */
  readonly isNews: (notification: string) => boolean;
};

export function openLeftToOthers(monotonic: () => number): LeftToOthers {
  const left = new Map<string, { readonly until: number; said: boolean }>();
  return {
    ids() {
      const now = monotonic();
      for (const [notification, { until }] of left) if (until + toldWithin < now) left.delete(notification);
      return [...left].filter(([, { until }]) => until > now).map(([notification]) => notification);
    },
    leave(notification) {
      left.set(notification, { until: monotonic() + leftFor, said: left.get(notification)?.said ?? false });
    },
    isNews(notification) {
      const found = left.get(notification);
      if (found?.said) return false;
      if (found) found.said = true;
      return true;
    },
  };
}
