import type { RunState } from '../../domain/runs.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Settlement } from '../../ledger/requests/settle.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Receives events for metrics and logs. They hold no secret and no address. */
export type Observer = {
  /** @returns call it when the exchange ends */
  readonly exchangeStarted: (account: string) => () => void;
  /** `planned`: not accepted, and returned. */
  readonly settled: (request: SettledRequest) => void;
  readonly waitedForPermit: (account: string, milliseconds: number) => void;
  /** The database's clock was set back. What the account owes by its rate is unchanged. */
  readonly clockSteppedBack: (account: string, milliseconds: number) => void;
  /** This process no longer sends the run. Called once for each slice. */
  readonly runEnded: (run: EndedRun) => void;
};

type SettledRequest = {
  readonly account: string;
  readonly run: string;
  readonly messageId: string;
  readonly state: Settlement['state'];
};

type EndedRun = {
  readonly account: string;
  readonly run: string;
  /** Undefined if the run no longer exists. */
  readonly state: RunState | undefined;
};

export const noObserver: Observer = {
  exchangeStarted: () => () => undefined,
  settled: () => undefined,
  waitedForPermit: () => undefined,
  clockSteppedBack: () => undefined,
  runEnded: () => undefined,
};

export function observeGateway(gateway: Gateway, account: string, { exchangeStarted }: Observer): Gateway {
  return {
    ...gateway,
    send(request, cutOff) {
      // First, because it throws for a request that cannot be sent.
      const evidence = gateway.send(request, cutOff);
      const exchangeEnded = exchangeStarted(account);
      // `evidence` never rejects.
      void evidence.then(exchangeEnded, exchangeEnded);
      return evidence;
    },
  };
}

/** Reports to the observer how long callers wait. A wait includes the ledger's answer: some milliseconds. */
export function observeLimiter(
  limiter: RateLimiter,
  account: string,
  { waitedForPermit }: Observer,
  monotonic: () => number,
): RateLimiter {
  return {
    ...limiter,
    async admit(wanted, stop) {
      const begun = monotonic();
      const admitted = await limiter.admit(wanted, stop);
      waitedForPermit(account, monotonic() - begun);
      return admitted;
    },
  };
}
