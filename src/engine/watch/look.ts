import type { Decision } from '../../domain/decisions.ts';
import type { Transaction } from '../../ledger/session.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import type { WatchedRun } from '../../ledger/watch/watches.ts';

/** One look at a run that is running, or that is sent and waits for its winner. Its transaction has locked the run. */
export type Look = WatchedRun & {
  readonly client: Transaction;
  /** The run and its counts. */
  readonly progress: DispatchProgress;
  /** Milliseconds since the look before, as far as they count. */
  readonly lookMs: number;
  /** How long the canary has been observed, with this look (milliseconds). */
  readonly observedMs: number;
  /** What this watcher kept at the look before; undefined: nothing. */
  readonly evidence: unknown;
};

/** What a look comes to. */
export type Finding = {
  readonly decision?: Decision | undefined;
  /** What to keep until the next look; undefined: as it was. */
  readonly evidence?: unknown;
};

/** Reads what a pure function of `decisions/` needs, and asks it. It changes nothing. */
export type Watcher = (look: Look) => Promise<Finding>;
