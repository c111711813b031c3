import type { PurgeCandidate, PurgeHold } from '../ledger/purge/candidates.ts';

export function formatPurgeHold({ held, state }: PurgeCandidate): string | null {
  return held === null ? null : held === 'not_over' ? `it is ${state}` : holds[held];
}

const holds: Readonly<Record<Exclude<PurgeHold, 'not_over'>, string>> = {
  unsent: 'requests of it are planned or being sent',
  in_doubt: 'requests of it are in doubt',
  younger_run: 'a younger run was made of it',
  unbooked: 'it is not in billing as a whole yet; try again',
  in_use: 'it is in use',
};
