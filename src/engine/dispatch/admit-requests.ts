import { setTimeout as sleep } from 'node:timers/promises';
import type { Reservations } from './address-check.ts';
import type { Sender } from './attempt-once.ts';
import type { Wakeup } from './wakeup.ts';

/** How many requests a slice may claim now. */
export type Admission = {
  /** What the address check has reserved; those that are not claimed must be released. */
  readonly reserved: number;
  readonly admitted: number;
  /** The right to probe, of which there is one request. */
  readonly probe: string | undefined;
};

/** A slice that waits for the right to claim. */
export type Admitted = Omit<Sender, 'slice' | 'settings'> & {
  readonly reservations: Reservations;
  /** Signalled when the address check can reserve more. */
  readonly room: Wakeup;
  /** Asked while the breaker is open. @returns whether the slice stops, because the service refuses all for too long */
  readonly giveUpIfRefused: () => Promise<boolean>;
};

/**
 * Waits until the address check, the breaker and the rate of the account let requests through, in this order: a permit of
 * the rate is asked for last, because it is lost if it is not used.
 *
 * @param wanted at most so many
 * @returns undefined if the slice stops or its window has closed
 */
export async function admitRequests(wanted: number, slice: Admitted): Promise<Admission | undefined> {
  const reserved = await reserve(wanted, slice);
  if (reserved === 0) return undefined;
  const entry = await waitForBreaker(slice);
  if (!entry) return undefined;
  const { probe } = entry;
  const admitted = await waitForPermit(slice, probe === undefined ? reserved : 1, probe);
  return admitted === 0 ? undefined : { reserved, admitted, probe };
}

/** @returns 0 if the slice stops */
async function reserve(wanted: number, { reservations, room, stop }: Admitted): Promise<number> {
  while (!stop.aborted) {
    const reserved = reservations.reserve(wanted);
    if (reserved > 0) return reserved;
    await room.wait(1_000, stop);
  }
  return 0;
}

async function waitForBreaker(slice: Admitted): Promise<Pick<Admission, 'probe'> | undefined> {
  const { context, breaker, stop, outageRetry, isWindowOpen, giveUpIfRefused } = slice;
  if (!breaker) return { probe: undefined };
  while (!stop.aborted) {
    const probe = context.randomUuid();
    const entry = await outageRetry.retry(() => breaker.enter(probe));
    if (typeof entry === 'string') return { probe: entry === 'probe' ? probe : undefined };
    const signal = AbortSignal.any([stop, breaker.changeSignal()]);
    if (!isWindowOpen() || (await outageRetry.retry(giveUpIfRefused))) return undefined;
    await sleep(entry, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** @returns 0 if the slice stops or its window has closed */
async function waitForPermit(slice: Admitted, wanted: number, probe: string | undefined): Promise<number> {
  const { context, account, limiter, breaker, stop, outageRetry, isWindowOpen, observer } = slice;
  const admitted = await outageRetry.retry(async () => {
    const begun = context.monotonic();
    const permits = await limiter.admit(wanted, stop);
    observer.waitedForPermit?.(account.name, context.monotonic() - begun);
    return permits;
  }, stop);
  const mayProbe = async () =>
    probe === undefined || !breaker || (await outageRetry.retry(() => breaker.extendProbe(probe)));
  if (admitted > 0 && isWindowOpen() && (await mayProbe())) return admitted;
  await outageRetry.retry(() => limiter.spend({ admitted, claimed: 0, recipients: 0 }));
  if (probe !== undefined) await outageRetry.retry(async () => breaker?.releaseProbe(probe));
  return 0;
}
