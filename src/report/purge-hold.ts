import type { PurgeCandidate, PurgeHold } from '../ledger/purge/candidates.ts';

export function formatPurgeHold({ held, state }: PurgeCandidate): string | null {
  return held === null ? null : held === 'not_over' ? `it is ${state}` : holds[held];
}

const holds: Readonly<Record<Exclude<PurgeHold, 'not_over'>, string>> = {
  unsent: 'some of its requests are planned or being sent',
  in_doubt: 'some of its requests are in doubt',
  younger_run: 'a later rerun depends on it',
  unbooked: 'it is not completely booked yet; try again',
  in_use: 'it is in use',
};
