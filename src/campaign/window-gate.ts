import { stateAt, type WindowRule, type WindowState } from './window.ts';

/** Whether requests of one window may leave now; asked before each of them. */
export type WindowGate = {
  readonly isOpen: (now: Date) => boolean;
  /** When they may leave next; `now` where they may. */
  readonly opensAt: (now: Date) => Date;
};

/**
 * What leaves in the last moments would arrive outside: connections take their time, and so do clocks to go wrong
 * (milliseconds).
 */
export const closingMargin = 5_000;

/** Nobody waits so long; the window of a run opened at some time when it was planned. */
const farFuture = 400 * 86_400_000;

/** @param sendAt the moment at which the service is to send what it is handed over before; the window opens then */
export function createWindowGate(
  rule: WindowRule,
  { zones, sendAt }: { readonly zones: readonly string[]; readonly sendAt: Date | null },
): WindowGate {
  let known: (WindowState & { readonly from: Date }) | undefined;
  const stateFor = (at: Date): WindowState => {
    if (!known || at < known.from || (known.until !== null && at >= known.until))
      known = { ...stateAt(rule, zones, at), from: at };
    return known;
  };
  const isOpen = (now: Date): boolean => {
    if (sendAt !== null && now < sendAt) return true;
    const { open, until } = stateFor(now);
    return open && (until === null || now.getTime() < until.getTime() - closingMargin);
  };
  return {
    isOpen,
    opensAt: (now) => {
      if (isOpen(now)) return now;
      const { open, until } = stateFor(now);
      if (!open) return until ?? new Date(now.getTime() + farFuture);
      const shut = until ?? now;
      return stateAt(rule, zones, shut).until ?? new Date(now.getTime() + farFuture);
    },
  };
}
