import type { Breaker } from '../../domain/breaker.ts';
import type { Account } from '../../gateway/account.ts';
import { type BreakerSnapshot, changeBreaker, readBreaker } from '../../ledger/limits/breaker.ts';
import type { EngineContext } from '../context.ts';
import {
  closeBreaker,
  extendProbe,
  grantProbe,
  isProbeOf,
  millisecondsUntilProbe,
  openBreaker,
  type Refusal,
  refusalsToOpen,
  releaseProbe,
} from './breaker.ts';
import type { Attempt } from './next-step.ts';
import { retryAfterMilliseconds } from './retry-wait.ts';

/** An account's circuit breaker, shared by all processes through the ledger. */
export type AccountBreaker = {
  readonly isOpen: () => boolean;
  /** Aborts when the breaker opens. Each opening has a new signal. */
  readonly openSignal: () => AbortSignal;
  /** Aborts at the next update. Each update has a new signal. */
  readonly changeSignal: () => AbortSignal;
  readonly refresh: () => Promise<void>;
  /**
   * Asks whether requests can be claimed.
   *
   * @param probe a new UUID for the right to probe. Repeat it if the answer was lost
   * @returns `probe`: one request only. A number: ask again after so many milliseconds
   */
  readonly enter: (probe: string) => Promise<'all' | 'probe' | number>;
  readonly recordRefusal: (refusal: Omit<Refusal, 'random'>) => Promise<void>;
  readonly recordAnswer: () => void;
  readonly closeAfterProbe: (probe: string) => Promise<void>;
  /** Call it right before the claim. @returns whether the right is still held */
  readonly extendProbe: (probe: string) => Promise<boolean>;
  readonly releaseProbe: (probe: string) => Promise<void>;
};

/** Time for work in the ledger (milliseconds). */
const leaseMargin = 15_000;

/** Another process may close the breaker meanwhile (milliseconds). */
const maxWait = 500;

/** State older than this is read again (milliseconds). */
const maxAge = 1_000;

export function createAccountBreaker(
  { ledger: { pool }, monotonic, random }: Pick<EngineContext, 'ledger' | 'monotonic' | 'random'>,
  { name, timeouts }: Pick<Account, 'name' | 'timeouts'>,
): AccountBreaker {
  const lease = timeouts.connect + timeouts.headers + timeouts.body + leaseMargin;
  let refusalsInARow = 0;
  const view = createBreakerView(monotonic, lease, () => {
    refusalsInARow = 0;
  });

  const refresh = async (): Promise<void> => view.update(await readBreaker(pool, name));

  async function changeInLedger(next: Parameters<typeof changeBreaker>[2]): Promise<Breaker | undefined> {
    const snapshot = await changeBreaker(pool, name, next);
    view.update(snapshot);
    return snapshot.breaker;
  }

  return {
    isOpen: () => view.breaker() !== undefined,
    openSignal: view.openSignal,
    changeSignal: view.changeSignal,
    refresh,
    async enter(probe) {
      if (view.age() > maxAge) await refresh();
      const known = view.breaker();
      if (!known) return 'all';
      const wait = view.untilProbe();
      if (wait > 0 && !isProbeOf(known, probe)) return Math.min(wait, maxWait);
      const breaker = await changeInLedger((old, now) => old && grantProbe(old, probe, now, lease));
      if (isProbeOf(breaker, probe)) return 'probe';
      return breaker ? maxWait : 'all';
    },
    async recordRefusal(refusal) {
      if (refusal.probeId === undefined) {
        refusalsInARow++;
        if (view.breaker() || refusalsInARow < refusalsToOpen) return;
      }
      const refused = { ...refusal, random: random() };
      await changeInLedger((old, now) => openBreaker(old, refused, now));
    },
    recordAnswer() {
      refusalsInARow = 0;
    },
    async closeAfterProbe(probe) {
      await changeInLedger((old) => closeBreaker(old, probe));
    },
    async extendProbe(probe) {
      const breaker = await changeInLedger((old, now) => old && extendProbe(old, probe, now, lease));
      return breaker === undefined || isProbeOf(breaker, probe);
    },
    async releaseProbe(probe) {
      await changeInLedger((old) => old && releaseProbe(old, probe));
    },
  };
}

/** The breaker as this process last saw it. */
function createBreakerView(monotonic: () => number, lease: number, onClosed: () => void) {
  let known: Breaker | undefined;
  let opened = new AbortController();
  let changed = new AbortController();
  let probeFrom = 0;
  let updatedAt = Number.NEGATIVE_INFINITY;
  return {
    breaker: () => known,
    openSignal: () => opened.signal,
    changeSignal: () => changed.signal,
    age: () => monotonic() - updatedAt,
    untilProbe: () => probeFrom - monotonic(),
    update({ breaker, now }: BreakerSnapshot): void {
      updatedAt = monotonic();
      if (breaker) {
        probeFrom = monotonic() + millisecondsUntilProbe(breaker, now, lease);
        opened.abort();
      } else if (known) {
        onClosed();
        opened = new AbortController();
      }
      known = breaker;
      changed.abort();
      changed = new AbortController();
    },
  };
}

/**
 * @param probeId the right that the attempt used
 * @returns a change in the ledger, which all workers share; undefined if there is none
 */
export function updateBreaker(
  breaker: AccountBreaker,
  { outcome, finishedAt }: Attempt,
  probeId: string | undefined,
): (() => Promise<void>) | undefined {
  switch (outcome.kind) {
    case 'accepted':
    case 'rejected':
    case 'unauthorized':
      breaker.recordAnswer();
      return probeId === undefined ? undefined : () => breaker.closeAfterProbe(probeId);
    case 'retry': {
      const requestedWait = retryAfterMilliseconds(outcome.retryAfter, finishedAt);
      return () => breaker.recordRefusal({ reason: outcome.reason, requestedWait, probeId });
    }
    case 'in_doubt':
      // Without an answer, a probe keeps the breaker open, but no other request opens it.
      return probeId === undefined
        ? undefined
        : () => breaker.recordRefusal({ reason: outcome.reason, requestedWait: undefined, probeId });
    case 'unsendable':
    case 'withheld':
      return probeId === undefined ? undefined : () => breaker.releaseProbe(probeId);
  }
}
