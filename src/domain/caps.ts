import type { Channel } from './message.ts';

/** What a `frequency` counts: messages of its account, or of all accounts. */
export const frequencyOwners = ['account', 'project'] as const;

/** The most messages that an address gets in any period of this length. */
export type Frequency = {
  readonly of: (typeof frequencyOwners)[number];
  readonly most: number;
  readonly milliseconds: number;
  /** The channels whose campaigns it limits, and whose messages it counts. */
  readonly over: readonly Channel[];
};

/** What an account may send over all campaigns. */
export type Caps = {
  /** All of them hold. */
  readonly frequency: readonly Frequency[];
  /** Null: no limit. */
  readonly recipientsPerDay: number | null;
};

export function hasCaps({ frequency, recipientsPerDay }: Caps): boolean {
  return frequency.length > 0 || recipientsPerDay !== null;
}
