import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimits } from '../../domain/rates.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rates.ts';
import {
  type Reservation,
  reserveLookUp,
  reserveRequests,
  spendReservation,
} from '../../ledger/limits/reserve.ts';
import type { EngineContext } from '../context.ts';
import { limitsInForce, noLimits } from './account-limits.ts';
import { type Admit, shareAdmissions } from './admissions.ts';

/** How fast an account may be used. One for each account and process; the ledger is what they have in common. */
export type RateLimiter = {
  /**
   * Waits until some requests may be claimed; several that ask at once have their turns in order. When it was stopped,
   * nothing is used up.
   */
  readonly admit: Admit;
  /**
   * Says what became of what was admitted: what was not claimed is given back, what was sent beyond it is paid for, and so
   * are the recipients. Can be tried again where it fails.
   */
  readonly spend: (spent: Usage) => Promise<void>;
  /** @returns false when it was stopped */
  readonly admitLookUp: (stop: AbortSignal) => Promise<boolean>;
};

export type Usage = {
  /** As `admit` returned it; 0 for a further attempt, which nothing waits for. */
  readonly admitted: number;
  readonly claimed: number;
  readonly recipients: number;
};

export type Timer = (milliseconds: number, stop: AbortSignal) => Promise<unknown>;

const processTimer: Timer = (milliseconds, stop) => sleep(milliseconds, undefined, { signal: stop });

type Reserved = Reservation & {
  /** Those that were reserved with the requests. */
  readonly recipients: number;
};

/** Of a smaller step of the clock nobody is told (milliseconds). */
const minClockStep = 100;

/** An operator's change is seen within so many milliseconds. */
const refreshInterval = 500;

export type LimiterOptions = {
  readonly timer?: Timer;
  readonly onClockSteppedBack?: (milliseconds: number) => void;
};

export function createRateLimiter(
  { ledger: { pool }, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  account: Pick<Account, 'name' | 'requestsPerSecond' | 'recipientsPerSecond'>,
  { timer = processTimer, onClockSteppedBack = () => undefined }: LimiterOptions = {},
): RateLimiter {
  const { name, requestsPerSecond, recipientsPerSecond } = account;
  const file: RateLimits = { requestsPerSecond, recipientsPerSecond };
  let known: { readonly limits: RateLimits; readonly until: number } | undefined;
  let refreshing: Promise<void> | undefined;
  /** How many recipients the requests of the last batch had each. */
  let recipientsEach: number | undefined;
  /** What was reserved, and is not yet spent. */
  const reserved = { requests: 0, recipients: 0 };

  const update = (limits: RateLimits): void => {
    known = { limits, until: monotonic() + refreshInterval };
  };
  /** Looks at the ledger, once for all that ask meanwhile. */
  const refresh = (): Promise<void> => {
    refreshing ??= readRateLimits(pool, name)
      .then((set) => update(limitsInForce(set, file)))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };
  /** Where there is a limit it is not asked again: the next reservation says whether there still is. */
  const isUnlimited = async (): Promise<boolean> => {
    if (!known || (areEqual(known.limits, noLimits) && known.until <= monotonic())) await refresh();
    return known !== undefined && areEqual(known.limits, noLimits);
  };

  const reserve = async (wanted: number): Promise<Reserved> => {
    // Before the first batch nobody knows how many recipients a request has; then it is one request.
    const isFirstBatch = recipientsEach === undefined && known?.limits.recipientsPerSecond !== null;
    const each = recipientsEach ?? 1;
    const reservationRequest = {
      account: name,
      wanted: isFirstBatch ? 1 : wanted,
      recipientsEach: each,
      file,
    };
    const reservation = await reserveRequests(pool, reservationRequest);
    const { limits, requests, steppedBack } = reservation;
    if (steppedBack > minClockStep) onClockSteppedBack(steppedBack);
    update(limits);
    return { ...reservation, recipients: limits.recipientsPerSecond === null ? 0 : requests * each };
  };

  const wait = async ({ now: start, admittedAt, limits }: Reserved, stop: AbortSignal) => {
    for (let remaining = admittedAt - start; remaining > 0; remaining -= refreshInterval) {
      if (!(await waitUnlessStopped(timer, Math.min(remaining, refreshInterval), stop))) return 'stopped';
      if (remaining <= refreshInterval) break;
      await refresh();
      // At other rates it would have another place. The change has settled what was reserved before.
      if (known && !areEqual(known.limits, limits)) return 'changed';
    }
    return stop.aborted ? 'stopped' : 'admitted';
  };

  const obtain: Admit = async (wanted, stop) => {
    while (!stop.aborted) {
      if (await isUnlimited()) return wanted;
      const reservation = await reserve(wanted);
      const { requests, recipients } = reservation;
      const outcome = await wait(reservation, stop);
      if (outcome === 'admitted') {
        reserved.requests += requests;
        reserved.recipients += recipients;
        return requests;
      }
      if (outcome === 'stopped') await spendReservation(pool, name, requests, -recipients);
    }
    return 0;
  };

  const spend = async ({ admitted, claimed, recipients }: Usage): Promise<void> => {
    if (claimed > 0) recipientsEach = Math.max(1, Math.round(recipients / claimed));
    // Nothing was reserved for what was admitted while there was no limit.
    const paid = Math.min(admitted, reserved.requests);
    const share = paid === 0 ? 0 : (reserved.recipients * paid) / reserved.requests;
    reserved.requests -= paid;
    reserved.recipients -= share;
    const excess = known?.limits.requestsPerSecond === null ? 0 : Math.max(0, claimed - admitted);
    const unused = Math.max(0, paid - claimed) - excess;
    const owed = known?.limits.recipientsPerSecond === null ? 0 : recipients - share;
    if (unused === 0 && owed === 0) return;
    await spendReservation(pool, name, unused, owed).catch((error: unknown) => {
      reserved.requests += paid;
      reserved.recipients += share;
      throw error;
    });
  };

  return {
    admit: shareAdmissions(obtain, (left) => spend({ admitted: left, claimed: 0, recipients: 0 })),
    spend,
    admitLookUp: async (stop) => {
      if (stop.aborted) return false;
      const { now: start, admittedAt } = await reserveLookUp(pool, name);
      return waitUnlessStopped(timer, admittedAt - start, stop);
    },
  };
}

/** @returns false when it was stopped */
async function waitUnlessStopped(timer: Timer, milliseconds: number, stop: AbortSignal): Promise<boolean> {
  if (milliseconds > 0) await timer(Math.ceil(milliseconds), stop).catch(() => undefined);
  return !stop.aborted;
}

function areEqual(one: RateLimits, other: RateLimits): boolean {
  return (
    one.requestsPerSecond === other.requestsPerSecond && one.recipientsPerSecond === other.recipientsPerSecond
  );
}
