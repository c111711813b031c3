import type { Breaker } from '../../domain/breaker.ts';
import type { Account } from '../../gateway/account.ts';
import { type BreakerSnapshot, changeBreaker, readBreaker } from '../../ledger/limits/breaker.ts';
import type { EngineContext } from '../context.ts';
import { type Attempt, maxRetryWait, retryAfterMilliseconds, retryWait } from './next-step.ts';

/** An account's circuit breaker, shared by all processes through the ledger. */
export type AccountBreaker = ReturnType<typeof createAccountBreaker>;

/** Time for work in the ledger (milliseconds). */
const leaseMargin = 15_000;

/** Another process may close the breaker meanwhile (milliseconds). */
const maxWait = 500;

/** State older than this is read again (milliseconds). */
const maxAge = 1_000;

export function createAccountBreaker(
  { ledger: { pool }, monotonic, random }: Pick<EngineContext, 'ledger' | 'monotonic' | 'random'>,
  { name, timeouts }: Pick<Account, 'name' | 'timeouts'>,
) {
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

  /** Leaves the breaker as it is if another probe has the right. */
  function changeIfHeld(
    probe: string,
    next: (breaker: Breaker, now: number) => Breaker | undefined,
  ): Promise<Breaker | undefined> {
    return changeInLedger((old, now) => (old && isProbeOf(old, probe) ? next(old, now) : old));
  }

  return {
    isOpen: (): boolean => view.breaker() !== undefined,
    /** Aborts when the breaker opens. Each opening has a new signal. */
    openSignal: (): AbortSignal => view.openSignal(),
    /** Aborts at the next update. Each update has a new signal. */
    changeSignal: (): AbortSignal => view.changeSignal(),
    refresh,
    /**
     * Asks whether requests can be claimed.
     *
     * @param probe a new UUID for the right to probe. Repeat it if the answer was lost
     * @returns `probe`: one request only. A number: ask again after so many milliseconds
     */
    async enter(probe: string): Promise<'all' | 'probe' | number> {
      if (view.age() > maxAge) await refresh();
      const known = view.breaker();
      if (!known) return 'all';
      const wait = view.untilProbe();
      if (wait > 0 && !isProbeOf(known, probe)) return Math.min(wait, maxWait);
      const breaker = await changeInLedger((old, now) => old && grantProbe(old, probe, now, lease));
      if (isProbeOf(breaker, probe)) return 'probe';
      return breaker ? maxWait : 'all';
    },
    async recordRefusal(refusal: Omit<Refusal, 'random'>): Promise<void> {
      if (refusal.probeId === undefined) {
        refusalsInARow++;
        if (view.breaker() || refusalsInARow < refusalsToOpen) return;
      }
      const refused = { ...refusal, random: random() };
      await changeInLedger((old, now) => openBreaker(old, refused, now));
    },
    recordAnswer(): void {
      refusalsInARow = 0;
    },
    async closeAfterProbe(probe: string): Promise<void> {
      await changeIfHeld(probe, () => undefined);
    },
    /** Call it right before the claim: it may have waited long for the rate. @returns whether the right is still held */
    async extendProbe(probe: string): Promise<boolean> {
      const breaker = await changeIfHeld(probe, (old, now) => withProbe(old, probe, now + lease));
      return breaker === undefined || isProbeOf(breaker, probe);
    },
    async releaseProbe(probe: string): Promise<void> {
      await changeIfHeld(probe, (old) => ({ ...old, probe: null }));
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

/*
 * The circuit breaker as pure functions. Undefined is closed. An open breaker lets one worker send one probe from
 * `retryAt` on (half-open).
 */

/** Refusals in a row that show a failing service, not a faulty request. */
const refusalsToOpen = 5;

type Refusal = {
  readonly reason: string;
  /** Milliseconds. */
  readonly requestedWait: number | undefined;
  /** Undefined if the request was no probe. */
  readonly probeId: string | undefined;
  readonly random: number;
};

/**
 * Opens the breaker after enough refusals, or a refused probe. An open breaker and an expired probe change nothing.
 */
export function openBreaker(
  breaker: Breaker | undefined,
  refusal: Refusal,
  now: number,
): Breaker | undefined {
  if (refusal.probeId === undefined ? breaker : !isProbeOf(breaker, refusal.probeId)) return breaker;
  const refusals = (breaker?.refusals ?? 0) + 1;
  return {
    openedAt: Math.min(breaker?.openedAt ?? now, now),
    retryAt: now + retryWait(refusals, refusal.requestedWait, refusal.random),
    refusals,
    reason: refusal.reason,
    probe: null,
  };
}

/** Milliseconds until a probe can be sent. A time further ahead than any wait is ignored: the clock was set back. */
export function millisecondsUntilProbe({ retryAt, probe }: Breaker, now: number, lease: number): number {
  const untilRetry = remaining(retryAt, now, maxRetryWait);
  const untilLeaseEnds = probe === null ? 0 : remaining(probe.expiresAt, now, lease);
  return Math.max(0, untilRetry, untilLeaseEnds);
}

function remaining(until: number, now: number, max: number): number {
  return until - now > max ? 0 : until - now;
}

/**
 * @param lease how long the answer can take (milliseconds)
 * @returns the same breaker if it is too early, or another probe has the right
 */
export function grantProbe(breaker: Breaker, id: string, now: number, lease: number): Breaker {
  return millisecondsUntilProbe(breaker, now, lease) > 0 ? breaker : withProbe(breaker, id, now + lease);
}

function withProbe(breaker: Breaker, id: string, expiresAt: number): Breaker {
  return { ...breaker, probe: { id, expiresAt } };
}

function isProbeOf(breaker: Breaker | undefined, id: string): boolean {
  return breaker?.probe?.id === id;
}
