import type { Breaker } from '../../domain/breaker.ts';
import type { Account } from '../../gateway/account.ts';
import { type BreakerLook, changeBreaker, lookAtBreaker } from '../../ledger/limits/breaker.ts';
import type { EngineContext } from '../context.ts';
import {
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
   * @returns `probe`: one, whose outcome has to be told; a number: none, and to be asked again after so many milliseconds
   */
  readonly enter: () => Promise<'all' | 'probe' | number>;
  /** The service refused a request, which is certain not to be taken. */
  readonly refused: (refusal: Omit<Refused, 'random'>) => Promise<void>;
  /** The service has answered a request, whatever it said. */
  readonly answered: () => void;
  /** The service has answered the one that tried it again. */
  readonly close: () => Promise<void>;
  /** Right before the one that tries is claimed. @returns whether it still may */
  readonly mayStillProbe: () => Promise<boolean>;
  /** What was to try the service was not sent. */
  readonly notTried: () => Promise<void>;
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
  let open = false;
  let opening = new AbortController();
  let change = new AbortController();
  let refusalsInARow = 0;
  /** By `monotonic`. */
  let probeFrom = 0;
  /** Until when this process may try the service, by the ledger; 0: it may not. */
  let ownProbeUntil = 0;
  let learnedAt = Number.NEGATIVE_INFINITY;

  const learn = ({ breaker, now }: BreakerLook): void => {
    learnedAt = monotonic();
    if (breaker) {
      probeFrom = monotonic() + untilProbe(breaker, now, lease);
      opening.abort();
    } else if (open) {
      refusalsInARow = 0;
      opening = new AbortController();
    }
    open = breaker !== undefined;
    change.abort();
    change = new AbortController();
  };

  return {
    isOpen: () => open,
    opening: () => opening.signal,
    change: () => change.signal,
    look: async () => learn(await lookAtBreaker(pool, name)),
    async enter() {
      if (monotonic() - learnedAt > knownFor) learn(await lookAtBreaker(pool, name));
      if (!open) return 'all';
      const left = probeFrom - monotonic();
      if (left > 0) return Math.min(left, longestWait);
      let taken = false;
      const look = await changeBreaker(pool, name, (breaker, now) => {
        const next = breaker && withProbe(breaker, now, lease);
        taken = next !== breaker;
        return next;
      });
      learn(look);
      if (taken) ownProbeUntil = look.breaker?.probeUntil ?? 0;
      return taken ? 'probe' : open ? longestWait : 'all';
    },
    async refused(refusal) {
      refusalsInARow++;
      if (!refusal.probe && (open || refusalsInARow < refusalsToOpen)) return;
      const refused = { ...refusal, random: random() };
      learn(await changeBreaker(pool, name, (breaker, now) => opened(breaker, refused, now)));
    },
    answered() {
      refusalsInARow = 0;
    },
    close: async () => learn(await changeBreaker(pool, name, () => undefined)),
    async mayStillProbe() {
      let longer: Breaker | undefined;
      const look = await changeBreaker(pool, name, (breaker, now) => {
        longer = breaker && withLongerProbe(breaker, ownProbeUntil, now, lease);
        return longer ?? breaker;
      });
      learn(look);
      ownProbeUntil = longer?.probeUntil ?? 0;
      return longer !== undefined || look.breaker === undefined;
    },
    async notTried() {
      const until = ownProbeUntil;
      learn(await changeBreaker(pool, name, (breaker) => breaker && withoutProbe(breaker, until)));
    },
  };
}
