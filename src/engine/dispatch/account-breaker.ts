import type { Breaker } from '../../domain/breaker.ts';
import type { Account } from '../../gateway/account.ts';
import { type BreakerLook, changeBreaker, lookAtBreaker } from '../../ledger/limits/breaker.ts';
import type { EngineContext } from '../context.ts';
import {
  closed,
  isProbeOf,
  opened,
  type Refused,
  refusalsToOpen,
  untilProbe,
  withLongerProbe,
  withoutProbe,
  withProbe,
} from './breaker.ts';

/** Whether requests may go out through an account. One for each account and process; the ledger is what they share. */
export type AccountBreaker = {
  /** As far as this process knows. */
  readonly isOpen: () => boolean;
  /** Aborted as soon as this process knows that it is open; another one is given when it has closed. */
  readonly opening: () => AbortSignal;
  /** Aborted when this process learns anything of it; another one is given from then on. */
  readonly change: () => AbortSignal;
  /** Looks at the ledger, for what other processes found. */
  readonly look: () => Promise<void>;
  /**
   * Asks whether requests may be claimed.
   *
   * @param probe a new UUID, for the right to try the service; with the same one it is asked again when the answer was lost
   * @returns `probe`: one, whose outcome has to be told; a number: none, and to be asked again after so many milliseconds
   */
  readonly enter: (probe: string) => Promise<'all' | 'probe' | number>;
  /** The service refused a request, which is certain not to be taken. */
  readonly refused: (refusal: Omit<Refused, 'random'>) => Promise<void>;
  /** The service has answered a request, whatever it said. */
  readonly answered: () => void;
  /** The service has answered the one that tried it again. */
  readonly close: (probe: string) => Promise<void>;
  /** Right before the one that tries is claimed. @returns whether it still may */
  readonly mayStillProbe: (probe: string) => Promise<boolean>;
  /** What was to try the service was not sent. */
  readonly notTried: (probe: string) => Promise<void>;
};

/** What is added to the account's own times for an answer, for the ledger's part in it (milliseconds). */
const leaseMargin = 15_000;

/** Some other process may find that the service answers again. Milliseconds. */
const longestWait = 500;

/** What was known so long ago is not gone by: other processes may have found something else since (milliseconds). */
const knownFor = 1_000;

export function openAccountBreaker(
  { ledger: { pool }, monotonic, random }: Pick<EngineContext, 'ledger' | 'monotonic' | 'random'>,
  { name, timeouts }: Pick<Account, 'name' | 'timeouts'>,
): AccountBreaker {
  const lease = timeouts.connect + timeouts.headers + timeouts.body + leaseMargin;
  let known: Breaker | undefined;
  let opening = new AbortController();
  let change = new AbortController();
  let refusalsInARow = 0;
  /** By `monotonic`. */
  let probeFrom = 0;
  let learnedAt = Number.NEGATIVE_INFINITY;

  const learn = ({ breaker, now }: BreakerLook): void => {
    learnedAt = monotonic();
    if (breaker) {
      probeFrom = monotonic() + untilProbe(breaker, now, lease);
      opening.abort();
    } else if (known) {
      refusalsInARow = 0;
      opening = new AbortController();
    }
    known = breaker;
    change.abort();
    change = new AbortController();
  };

  async function decide(next: Parameters<typeof changeBreaker>[2]): Promise<BreakerLook> {
    const look = await changeBreaker(pool, name, next);
    learn(look);
    return look;
  }

  return {
    isOpen: () => known !== undefined,
    opening: () => opening.signal,
    change: () => change.signal,
    look: async () => learn(await lookAtBreaker(pool, name)),
    async enter(probe) {
      if (monotonic() - learnedAt > knownFor) learn(await lookAtBreaker(pool, name));
      if (!known) return 'all';
      const left = probeFrom - monotonic();
      if (left > 0 && !isProbeOf(known, probe)) return Math.min(left, longestWait);
      const { breaker } = await decide((breaker, now) => breaker && withProbe(breaker, probe, now, lease));
      if (isProbeOf(breaker, probe)) return 'probe';
      return breaker ? longestWait : 'all';
    },
    async refused(refusal) {
      if (refusal.probe === undefined) {
        refusalsInARow++;
        if (known || refusalsInARow < refusalsToOpen) return;
      }
      const refused = { ...refusal, random: random() };
      await decide((breaker, now) => opened(breaker, refused, now));
    },
    answered() {
      refusalsInARow = 0;
    },
    close: async (probe) => void (await decide((breaker) => closed(breaker, probe))),
    async mayStillProbe(probe) {
      const { breaker } = await decide(
        (breaker, now) => breaker && withLongerProbe(breaker, probe, now, lease),
      );
      return breaker === undefined || isProbeOf(breaker, probe);
    },
    notTried: async (probe) => void (await decide((breaker) => breaker && withoutProbe(breaker, probe))),
  };
}
