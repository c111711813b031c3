import type { WindowGate } from '../../campaign/window.ts';
import type { Random } from '../../platform/seeded-random.ts';

/** Recipients that are sent to in the same windows and the same stage of a run. */
export type Lot = {
  /** Undefined: no window. */
  readonly gate: WindowGate | undefined;
  /** When the service sends requests handed over earlier; null: at once. */
  readonly sendAt: Date | null;
  /** How many recipients a request has, on average. */
  readonly chunk: number;
  /** Recipients that are not sent, by group. */
  readonly left: number[];
};

/** The most of a second. */
export type Speed = { readonly requests: number; readonly recipients: number };

/** What was sent of a lot, by group. */
export type Sent = { readonly lot: Lot; readonly recipients: readonly number[] };

/**
 * Sends for some seconds, from the first lots whose windows are open.
 *
 * @param lots in the order of a run
 * @param now in milliseconds
 */
export function sendFrom(
  lots: readonly Lot[],
  { now, seconds, speed }: { readonly now: number; readonly seconds: number; readonly speed: Speed },
  random: Random,
): readonly Sent[] {
  const sent: Sent[] = [];
  let time = seconds;
  for (const lot of lots) {
    const left = sum(lot.left);
    if (left === 0 || !isOpen(lot, now)) continue;
    const aSecond = Math.min(speed.requests * lot.chunk, speed.recipients);
    // A fraction of a recipient is drawn.
    const most = Math.floor(aSecond * time + random());
    const recipients = divide(lot.left, Math.min(left, most), random);
    for (const [group, taken] of recipients.entries()) lot.left[group] = (lot.left[group] ?? 0) - taken;
    sent.push({ lot, recipients });
    if (most <= left) break;
    time -= left / aSecond;
  }
  return sent;
}

export function isOpen({ gate }: Lot, now: number): boolean {
  return gate?.isOpen(new Date(now)) ?? true;
}

/** When the first of these lots can be sent; `now` if one can. */
export function opensAt(lots: readonly Lot[], now: number): number {
  return Math.min(...lots.map(({ gate }) => gate?.opensAt(new Date(now)).getTime() ?? now));
}

/** Divides among groups in their proportions (systematic sampling): each gets its part, rounded up or down. */
export function divide(groups: readonly number[], recipients: number, random: Random): readonly number[] {
  const total = sum(groups);
  let before = random();
  return groups.map((size) => {
    const after = before + (total === 0 ? 0 : (size * recipients) / total);
    const taken = Math.min(size, Math.floor(after) - Math.floor(before));
    before = after;
    return taken;
  });
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
