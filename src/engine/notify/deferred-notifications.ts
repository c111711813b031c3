import { notifyWithin } from './notify-backoff.ts';

/** A notification that this process cannot send is left to others for so long (milliseconds). */
const deferFor = 30_000;

export type DeferredNotifications = {
  readonly ids: () => string[];
  readonly defer: (notification: string) => void;
  /** True once for each notification. */
  readonly shouldWarn: (notification: string) => boolean;
};

export function createDeferredNotifications(monotonic: () => number): DeferredNotifications {
  const deferred = new Map<string, { readonly until: number; warned: boolean }>();
  return {
    ids() {
      const now = monotonic();
      for (const [notification, { until }] of deferred)
        if (until + notifyWithin < now) deferred.delete(notification);
      return [...deferred].filter(([, { until }]) => until > now).map(([notification]) => notification);
    },
    defer(notification) {
      deferred.set(notification, {
        until: monotonic() + deferFor,
        warned: deferred.get(notification)?.warned ?? false,
      });
    },
    shouldWarn(notification) {
      const found = deferred.get(notification);
      if (found?.warned) return false;
      if (found) found.warned = true;
      return true;
    },
  };
}
