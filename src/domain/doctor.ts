/** What `volley doctor` finds out. */

/** The worst last. `not checked`: it could not be found out; `found` says why. */
export const checkStates = ['ok', 'not checked', 'warning', 'problem'] as const;
export type CheckState = (typeof checkStates)[number];

/** Sentences without secrets. */
export type Finding = {
  readonly state: CheckState;
  readonly found: string;
  /** A command or setting to type, in a sentence; null: nothing has to be done. */
  readonly nextStep: string | null;
};

/** The name is stable, for monitoring: `clock`, `account main`. */
export type Check = { readonly name: string } & Finding;
