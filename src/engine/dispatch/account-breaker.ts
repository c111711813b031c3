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

/** An account's circuit breaker in this process. Processes share its state through the ledger. */
export type AccountBreaker = {
  /** As last read from the ledger. */
  readonly isOpen: () => boolean;
  /** Aborts when the breaker opens. Call it again after the breaker has closed. */
  readonly openSignal: () => AbortSignal;
  /** Aborts at the next update. Call it again after that. */
  readonly changeSignal: () => AbortSignal;
  /** Reads what other processes found. */
  readonly refresh: () => Promise<void>;
  /**
   * Asks whether requests may be claimed.
   *
   * @param probe a new UUID for the right to send a probe. Repeat it when the answer was lost
   * @returns `probe`: one request, whose outcome must be recorded here. A number: none, ask again after so many
   * milliseconds
   */
  readonly enter: (probe: string) => Promise<'all' | 'probe' | number>;
  /** The service certainly did not accept a request. */
  readonly recordRefusal: (refusal: Omit<Refusal, 'random'>) => Promise<void>;
  /** The service answered a request, with whatever outcome. */
  readonly recordAnswer: () => void;
  /** The service answered the probe. */
  readonly closeAfterProbe: (probe: string) => Promise<void>;
  /** Call it right before the probe is claimed. @returns whether the right is still held */
  readonly extendProbe: (probe: string) => Promise<boolean>;
  /** The probe was not sent. */
  readonly releaseProbe: (probe: string) => Promise<void>;
};

/** Added to the account's own timeouts, for work in the ledger (milliseconds). */
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
  let known: Breaker | undefined;
  let opened = new AbortController();
  let changed = new AbortController();
  let refusalsInARow = 0;
  /** By `monotonic`. */
  let probeFrom = 0;
  let updatedAt = Number.NEGATIVE_INFINITY;

  const update = ({ breaker, now }: BreakerSnapshot): void => {
    updatedAt = monotonic();
    if (breaker) {
      probeFrom = monotonic() + millisecondsUntilProbe(breaker, now, lease);
      opened.abort();
    } else if (known) {
      refusalsInARow = 0;
      opened = new AbortController();
    }
    known = breaker;
    changed.abort();
    changed = new AbortController();
  };

  async function changeInLedger(next: Parameters<typeof changeBreaker>[2]): Promise<BreakerSnapshot> {
    const look = await changeBreaker(pool, name, next);
    update(look);
    return look;
  }

  return {
    isOpen: () => known !== undefined,
    openSignal: () => opened.signal,
    changeSignal: () => changed.signal,
    refresh: async () => update(await readBreaker(pool, name)),
    async enter(probe) {
      if (monotonic() - updatedAt > maxAge) update(await readBreaker(pool, name));
      if (!known) return 'all';
      const wait = probeFrom - monotonic();
      if (wait > 0 && !isProbeOf(known, probe)) return Math.min(wait, maxWait);
      const { breaker } = await changeInLedger(
        (breaker, now) => breaker && grantProbe(breaker, probe, now, lease),
      );
      if (isProbeOf(breaker, probe)) return 'probe';
      return breaker ? maxWait : 'all';
    },
    async recordRefusal(refusal) {
      if (refusal.probeId === undefined) {
        refusalsInARow++;
        if (known || refusalsInARow < refusalsToOpen) return;
      }
      const refused = { ...refusal, random: random() };
      await changeInLedger((breaker, now) => openBreaker(breaker, refused, now));
    },
    recordAnswer() {
      refusalsInARow = 0;
    },
    closeAfterProbe: async (probe) => void (await changeInLedger((breaker) => closeBreaker(breaker, probe))),
    async extendProbe(probe) {
      const { breaker } = await changeInLedger(
        (breaker, now) => breaker && extendProbe(breaker, probe, now, lease),
      );
      return breaker === undefined || isProbeOf(breaker, probe);
    },
    releaseProbe: async (probe) =>
      void (await changeInLedger((breaker) => breaker && releaseProbe(breaker, probe))),
  };
}
