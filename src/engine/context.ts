import type { Actor } from '../domain/access.ts';
import type { Ledger } from '../ledger/connection.ts';

export type EngineContext = {
  readonly ledger: Ledger;
  /** Who is behind it, for the audit trail. */
  readonly actor: Actor;
  readonly now: () => Date;
  /** Milliseconds that go on however the clock is set. */
  readonly monotonic: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** From 0 up to, but not including, 1; for chances that nobody could profit from guessing. */
  readonly random: () => number;
  readonly randomUuid: () => string;
};
