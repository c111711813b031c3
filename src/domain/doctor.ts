import type { NextStep } from './next-step.ts';

/** What `volley doctor` finds out. */

/** The worst last. `not checked`: it could not be found out; `found` says why. */
export const checkStates = ['ok', 'not checked', 'warning', 'problem'] as const;
export type CheckState = (typeof checkStates)[number];

/** Sentences without secrets. */
export type Finding = {
  readonly state: CheckState;
  readonly found: string;
  /** Null: nothing has to be done. */
  readonly nextStep: NextStep | null;
};

/** The name is stable, for monitoring: `clock`, `account main`. */
export type Check = { readonly name: string } & Finding;

/** Whether a person should do something about it. */
export function asksForPerson({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'problem' || state === 'warning';
}
