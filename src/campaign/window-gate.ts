import { stateAt, type WindowRule, type WindowState } from './window.ts';

export type WindowGate = {
  readonly isOpen: (now: Date) => boolean;
  /** When requests can be sent next; `now` if they can. */
  readonly opensAt: (now: Date) => Date;
};

/**
 * Milliseconds before the window closes in which nothing is sent: it could arrive too late, because connections
 * take time and clocks differ.
 */
const closingMargin = 5_000;

/** A fallback that should not occur: planning checked that the window opens. */
const farFuture = 400 * 86_400_000;

/** @param sendAt the SendTime of requests handed over early; until then the window counts as open */
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
      // The window is open, but within the closing margin.
      const closesAt = until ?? now;
      return stateAt(rule, zones, closesAt).until ?? new Date(now.getTime() + farFuture);
    },
  };
}
