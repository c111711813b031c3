import type { RunState } from '../../domain/runs.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Who is told of a dispatch while it goes on, to count or to log. What is told is never a secret, nor an address. */
export type Observer = {
  /** An exchange with the service begins. @returns to be called when it is over */
  readonly exchangeStarted: (account: string) => () => void;
  /** An outcome is committed. `planned`: provably not taken, and given back. */
  readonly settled: (request: SettledRequest) => void;
  /** Requests had to wait so long (milliseconds) for the account's rate, and for who is before them. */
  readonly waitedForRate: (account: string, milliseconds: number) => void;
  /** The database's clock was set back by so many milliseconds. What is owed by the account's rate stays what it was. */
  readonly clockSteppedBack: (account: string, milliseconds: number) => void;
  /** A run that was sent here is so no more. May be told several times. */
  readonly runEnded: (run: EndedRun) => void;
};

export type SettledRequest = {
  readonly account: string;
  readonly run: string;
  readonly messageId: string;
  readonly state: Settlement['state'];
};

export type EndedRun = {
  readonly account: string;
  readonly run: string;
  /** Undefined for a run that there is no more. */
  readonly state: RunState | undefined;
};

export const noObserver: Observer = {
  exchangeStarted: () => () => undefined,
  settled: () => undefined,
  waitedForRate: () => undefined,
  clockSteppedBack: () => undefined,
  runEnded: () => undefined,
};

export function observeGateway(gateway: Gateway, account: string, { exchangeStarted }: Observer): Gateway {
  return {
    ...gateway,
    send(request, cutOff) {
      // First, for it throws what cannot be sent.
      const evidence = gateway.send(request, cutOff);
      const exchangeEnded = exchangeStarted(account);
      // Evidence is never a rejection.
      void evidence.then(exchangeEnded, exchangeEnded);
      return evidence;
    },
  };
}

/** Tells how long is waited, the ledger's own answer included: some milliseconds. */
export function observeLimiter(
  limiter: RateLimiter,
  account: string,
  { waitedForRate }: Observer,
  monotonic: () => number,
): RateLimiter {
  return {
    ...limiter,
    async admit(wanted, stop) {
      const begun = monotonic();
      const admitted = await limiter.admit(wanted, stop);
      waitedForRate(account, monotonic() - begun);
      return admitted;
    },
  };
}
