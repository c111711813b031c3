import type { FailFastReason } from '../../domain/watch-reasons.ts';
import type { Outcome } from './next-step.ts';

type ForeignAnswers = Extract<FailFastReason, { kind: 'foreign_answers' }>;

/**
 * Holds a run back until its first answers show whether the interface of its account is at its address: until then,
 * no more than `first` requests are in flight or in doubt. One for each run that a process sends, whatever its slices.
 */
export type AddressCheck = ReturnType<typeof createAddressCheck>;

/** The requests that one slice reserves. */
export type Reservations = ReturnType<AddressCheck['join']>;

/** The most characters of the reason's quote. */
const maxWordsLength = 160;

export function createAddressCheck(first: number, pause: (reason: ForeignAnswers) => Promise<unknown>) {
  const paused = new AbortController();
  const wakes = new Set<() => void>();
  let isProved = false;
  let reserved = 0;
  let foreign = 0;
  let pausing: Promise<unknown> | undefined;

  function prove(): void {
    isProved = true;
    for (const wake of wakes) wake();
  }

  function stop(last: Pick<ForeignAnswers, 'url' | 'words'>): void {
    pausing = pause({ kind: 'foreign_answers', requests: first, ...last });
    // It is thrown by `whenPaused`.
    pausing.catch(() => undefined);
    paused.abort();
  }

  return {
    /** @param url of the request */
    answered(outcome: Outcome, url: () => string): void {
      if (isProved) return;
      if (outcome.kind === 'in_doubt' && outcome.foreign) {
        foreign++;
        if (foreign === first) stop({ url: url(), words: outcome.reason.slice(0, maxWordsLength) });
      } else if (provingKinds.includes(outcome.kind)) prove();
    },
    /** @param wake is called when more can be reserved */
    join(wake: () => void) {
      wakes.add(wake);
      let own = 0;
      /** Frees requests that were not claimed, or have their outcome. */
      const release = (requests: number): void => {
        own -= requests;
        reserved -= requests;
      };
      return {
        /** @returns 0 if none can be claimed now */
        reserve(wanted: number): number {
          const granted = isProved ? wanted : Math.max(0, Math.min(wanted, first - foreign - reserved));
          own += granted;
          reserved += granted;
          return granted;
        },
        release,
        leave(): void {
          release(own);
          wakes.delete(wake);
        },
      };
    },
    /** Aborted when the run is paused. */
    get paused(): AbortSignal {
      return paused.signal;
    },
    /** Resolves when the pause is in the ledger. @throws Error if the ledger fails */
    whenPaused: async (): Promise<unknown> => pausing,
  };
}

/** A request that is in doubt for another reason proves nothing, but not all of the first ones had foreign answers. */
const provingKinds: readonly Outcome['kind'][] = ['accepted', 'rejected', 'unauthorized', 'in_doubt'];

/** Keeps the check of each run that the process sends now. */
export function createAddressChecks() {
  const checks = new Map<string, { readonly check: AddressCheck; slices: number }>();
  return {
    /** The check that the slices of the run share, until the last one leaves it. */
    enter(run: string, create: () => AddressCheck): AddressCheck {
      const shared = checks.get(run) ?? { check: create(), slices: 0 };
      shared.slices++;
      checks.set(run, shared);
      return shared.check;
    },
    leave(run: string): void {
      const shared = checks.get(run);
      if (shared && --shared.slices === 0) checks.delete(run);
    },
  };
}
