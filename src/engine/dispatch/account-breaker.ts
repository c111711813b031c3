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

/** Whether requests may go out through an account. One for each account and process; the ledger is what they share. */
export type AccountBreaker = {
  /** As far as this process knows. */
  readonly isOpen: () => boolean;
  /** Aborted as soon as this process knows that it is open; another one is given when it has closed. */
  readonly openSignal: () => AbortSignal;
  /** Aborted when this process learns anything of it; another one is given from then on. */
  readonly changeSignal: () => AbortSignal;
  /** Looks at the ledger, for what other processes found. */
  readonly refresh: () => Promise<void>;
  /**
   * Asks whether requests may be claimed.
   *
   * @param probe a new UUID, for the right to try the service; with the same one it is asked again when the answer was lost
   * @returns `probe`: one, whose outcome has to be told; a number: none, and to be asked again after so many milliseconds
   */
  readonly enter: (probe: string) => Promise<'all' | 'probe' | number>;
  /** The service refused a request, which is certain not to be taken. */
  readonly recordRefusal: (refusal: Omit<Refusal, 'random'>) => Promise<void>;
  /** The service has answered a request, whatever it said. */
  readonly recordAnswer: () => void;
  /** The service has answered the one that tried it again. */
  readonly closeAfterProbe: (probe: string) => Promise<void>;
  /** Right before the one that tries is claimed. @returns whether it still may */
  readonly extendProbe: (probe: string) => Promise<boolean>;
  /** What was to try the service was not sent. */
  readonly releaseProbe: (probe: string) => Promise<void>;
};

/** What is added to the account's own times for an answer, for the ledger's part in it (milliseconds). */
const leaseMargin = 15_000;

/** Some other process may find that the service answers again. Milliseconds. */
const maxWait = 500;

/** What was known so long ago is not gone by: other processes may have found something else since (milliseconds). */
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
