import type { PurgeCandidate, PurgeHold } from '../ledger/purge/candidates.ts';
import type { RecordsCandidate, RecordsHold } from '../ledger/purge/delete-records.ts';

export function formatPurgeHold({ held, state }: PurgeCandidate): string | null {
  return held === null ? null : held === 'not_over' ? `it is ${state}` : holds[held];
}

const holds: Readonly<Record<Exclude<PurgeHold, 'not_over'>, string>> = {
  open_rest:
    'some of its contacts wait for the variant that wins; `volley promote` or `volley cancel` ends that',
  unsent: 'some of its requests are planned or being sent',
  in_doubt: 'some of its requests are in doubt',
  younger_run: 'a later rerun depends on it',
  unbooked: 'it is not completely booked yet; try again',
  in_use: 'it is in use',
};

export function formatRecordsHold({ held }: RecordsCandidate): string | null {
  return held === null ? null : recordsHolds[held];
}

const recordsHolds: Readonly<Record<RecordsHold, string>> = {
  in_doubt: holds.in_doubt,
  unbooked: holds.unbooked,
  open_month: 'a month in which it is billed is not closed (`volley billing close`)',
};

/** What a purge has erased, of a run and of one of its recipients. */
export const erasedWords = {
  run: 'its contacts and messages are erased; counts and costs stay',
  recipient: 'address, message and words are erased; counts and costs stay',
} as const;
