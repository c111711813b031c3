import type { Actor } from '../domain/access.ts';
import type { Account } from '../gateway/account.ts';
import type { Ledger } from '../ledger/connection.ts';

export type EngineContext = {
  readonly ledger: Ledger;
  /** The audit trail names it. */
  readonly actor: Actor;
  readonly now: () => Date;
  /** Milliseconds; unaffected by changes of the clock. */
  readonly monotonic: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** From 0 up to, but not including, 1. Not secret. */
  readonly random: () => number;
  readonly randomUuid: () => string;
};

/** @throws InputError for an account that this process lacks */
export type AccountNamed = (name: string) => Promise<Account>;
