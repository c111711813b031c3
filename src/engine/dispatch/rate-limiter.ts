import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rate-limits.ts';
import {
  type Reservation,
  reserveLookUp,
  reserveRequests,
  spendReservation,
} from '../../ledger/limits/reserve.ts';
import type { EngineContext } from '../context.ts';
import { areSameLimits, limitsInForce, noLimits } from './account-limits.ts';
import { type Admit, sharePermits } from './share-permits.ts';

/** Enforces an account's rates, which all processes share through the ledger. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

type Usage = {
  /** As `admit` returned it; 0 for a retry, which does not wait. */
  readonly admitted: number;
  readonly claimed: number;
  readonly recipients: number;
};

export type Timer = (milliseconds: number, stop: AbortSignal) => Promise<unknown>;

const processTimer: Timer = (milliseconds, stop) => sleep(milliseconds, undefined, { signal: stop });

type Reserved = Reservation & {
  readonly recipients: number;
};

/** Smaller steps of the clock are not reported (milliseconds). */
const minClockStep = 100;

type LimiterOptions = {
  readonly timer?: Timer;
  readonly onClockSteppedBack?: (milliseconds: number) => void;
};

export function createRateLimiter(
  context: Pick<EngineContext, 'ledger' | 'monotonic'>,
  account: Pick<Account, 'name' | 'requestsPerSecond' | 'recipientsPerSecond'>,
  { timer = processTimer, onClockSteppedBack = () => undefined }: LimiterOptions = {},
) {
  const { pool } = context.ledger;
  const limits = createCurrentLimits(context, account);
  const reservations = createReservations(pool, account.name, limits);

  const reserve = async (wanted: number): Promise<Reserved> => {
    const recipientsEach = reservations.recipientsEach();
    // The first batch is one request, to learn how many recipients each has.
    const isFirstBatch = recipientsEach === undefined && limits.known()?.recipientsPerSecond !== null;
    const each = recipientsEach ?? 1;
    const reservation = await reserveRequests(pool, {
      account: account.name,
      wanted: isFirstBatch ? 1 : wanted,
      recipientsEach: each,
      file: limits.file,
    });
    if (reservation.steppedBack > minClockStep) onClockSteppedBack(reservation.steppedBack);
    limits.update(reservation.limits);
    const isLimited = reservation.limits.recipientsPerSecond !== null;
    return { ...reservation, recipients: isLimited ? reservation.requests * each : 0 };
  };

  const wait = async ({ now, admittedAt, limits: reservedAt }: Reserved, stop: AbortSignal) => {
    for (let remaining = admittedAt - now; remaining > 0; remaining -= refreshInterval) {
      if (!(await waitUnlessStopped(timer, Math.min(remaining, refreshInterval), stop))) return 'stopped';
      if (remaining <= refreshInterval) break;
      await limits.refresh();
      const known = limits.known();
      // New rates need a new reservation. setRateLimits cleared the debt, so nothing is returned.
      if (known && !areSameLimits(known, reservedAt)) return 'changed';
    }
    return stop.aborted ? 'stopped' : 'admitted';
  };

  const obtain: Admit = async (wanted, stop) => {
    while (!stop.aborted) {
      if (await limits.isUnlimited()) return wanted;
      const reservation = await reserve(wanted);
      const { requests, recipients } = reservation;
      const outcome = await wait(reservation, stop);
      if (outcome === 'admitted') {
        reservations.add(requests, recipients);
        return requests;
      }
      if (outcome === 'stopped') await spendReservation(pool, account.name, requests, -recipients);
    }
    return 0;
  };

  const { spend } = reservations;
  return {
    /** Waits until some requests can be claimed. A stopped wait uses nothing up. */
    admit: sharePermits(obtain, (left) => spend({ admitted: left, claimed: 0, recipients: 0 })),
    spend,
    /** @returns false after `stop` */
    async admitLookUp(stop: AbortSignal): Promise<boolean> {
      if (stop.aborted) return false;
      const { now, admittedAt } = await reserveLookUp(pool, account.name);
      return waitUnlessStopped(timer, admittedAt - now, stop);
    },
  };
}

function createReservations(pool: EngineContext['ledger']['pool'], account: string, limits: CurrentLimits) {
  const reserved = { requests: 0, recipients: 0 };
  let recipientsEach: number | undefined;
  const add = (requests: number, recipients: number): void => {
    reserved.requests += requests;
    reserved.recipients += recipients;
  };
  return {
    add,
    /** The recipients of each request of the last batch. */
    recipientsEach: () => recipientsEach,
    /** Returns unclaimed requests, and charges excess requests and recipients. Can be repeated after a failure. */
    async spend({ admitted, claimed, recipients }: Usage): Promise<void> {
      if (claimed > 0) recipientsEach = Math.max(1, Math.round(recipients / claimed));
      // Without a limit, nothing was reserved.
      const paid = Math.min(admitted, reserved.requests);
      const share = paid === 0 ? 0 : (reserved.recipients * paid) / reserved.requests;
      add(-paid, -share);
      const known = limits.known();
      const excess = known?.requestsPerSecond === null ? 0 : Math.max(0, claimed - admitted);
      const unused = Math.max(0, paid - claimed) - excess;
      const owed = known?.recipientsPerSecond === null ? 0 : recipients - share;
      if (unused === 0 && owed === 0) return;
      await spendReservation(pool, account, unused, owed).catch((error: unknown) => {
        add(paid, share);
        throw error;
      });
    },
  };
}

async function waitUnlessStopped(timer: Timer, milliseconds: number, stop: AbortSignal): Promise<boolean> {
  if (milliseconds > 0) await timer(Math.ceil(milliseconds), stop).catch(() => undefined);
  return !stop.aborted;
}

type CurrentLimits = ReturnType<typeof createCurrentLimits>;

/** An operator's change takes effect within so many milliseconds. */
const refreshInterval = 500;

/** An account's limits in force, as last read. */
function createCurrentLimits(
  { ledger: { pool }, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  {
    name,
    requestsPerSecond,
    recipientsPerSecond,
  }: Pick<Account, 'name' | 'requestsPerSecond' | 'recipientsPerSecond'>,
) {
  const file: RateLimits = { requestsPerSecond, recipientsPerSecond };
  let known: { readonly limits: RateLimits; readonly until: number } | undefined;
  let refreshing: Promise<void> | undefined;

  const update = (limits: RateLimits): void => {
    known = { limits, until: monotonic() + refreshInterval };
  };
  const refresh = (): Promise<void> => {
    refreshing ??= readRateLimits(pool, name)
      .then((set) => update(limitsInForce(set, file)))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  return {
    file,
    known: () => known?.limits,
    update,
    refresh,
    async isUnlimited(): Promise<boolean> {
      // Limits need no reading: each reservation returns them.
      if (!known || (areSameLimits(known.limits, noLimits) && known.until <= monotonic())) await refresh();
      return known !== undefined && areSameLimits(known.limits, noLimits);
    },
  };
}
