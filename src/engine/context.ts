import type { Ledger } from '../ledger/connection.ts';

/** What every use case that touches the ledger needs; time and randomness are passed in. */
export type EngineContext = {
  readonly ledger: Ledger;
  readonly now: () => Date;
  /** Milliseconds that go on however the clock is set. */
  readonly monotonic: () => number;
  readonly randomBytes: (size: number) => Buffer;
  readonly randomUuid: () => string;
};
