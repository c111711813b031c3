import type { RunState } from '../../domain/runs.ts';
import type { Settlement } from '../../ledger/requests/settle.ts';
import type { DecidedRun } from '../watch/watch-runs.ts';

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
  readonly decided: (run: DecidedRun) => void;
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
