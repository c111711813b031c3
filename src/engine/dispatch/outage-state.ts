import type { Ledger } from '../../ledger/connection.ts';

export type OutageEvents = {
  /** Called for each outage, and when an embedded server cannot be started again. */
  readonly onDown: (error: Error) => void;
  readonly onUp: () => void;
};

/** Shows whether this process can reach the database. */
export type OutageState = {
  readonly isDown: () => boolean;
  /** Grows with each change. Work from an earlier generation shows nothing about the database now. */
  readonly generation: () => number;
  readonly markDown: (error: Error) => void;
  readonly markUp: () => void;
  readonly lastFailure: () => Error | undefined;
  readonly recordFailure: (error: Error) => void;
  /** Starts an embedded server again. */
  readonly revive: (failure: Error) => Promise<void>;
  readonly untilUp: () => Promise<void>;
};

export function createOutageState(
  { onDown, onUp }: OutageEvents,
  reviveLedger: Ledger['revive'],
): OutageState {
  let outage: PromiseWithResolvers<void> | undefined;
  let generation = 0;
  let lastFailure: Error | undefined;
  let reviving: Promise<void> | undefined;
  let reviveFailure: string | undefined;

  const markDown = (error: Error): void => {
    if (outage) return;
    outage = Promise.withResolvers();
    generation++;
    lastFailure = error;
    onDown(error);
  };

  const reportReviveFailure = (error: unknown): void => {
    if (!(error instanceof Error) || error.message === reviveFailure) return;
    reviveFailure = error.message;
    if (outage) onDown(error);
    else markDown(error);
  };

  return {
    isDown: () => outage !== undefined,
    generation: () => generation,
    markDown,
    markUp() {
      if (!outage) return;
      outage.resolve();
      outage = undefined;
      generation++;
      lastFailure = undefined;
      reviveFailure = undefined;
      onUp();
    },
    lastFailure: () => lastFailure,
    recordFailure(error) {
      lastFailure = error;
    },
    revive(failure) {
      reviving ??= reviveLedger(() => markDown(failure))
        .catch(reportReviveFailure)
        .finally(() => {
          reviving = undefined;
        });
      return reviving;
    },
    untilUp: () => outage?.promise ?? Promise.resolve(),
  };
}
