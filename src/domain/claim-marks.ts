/**
 * A claim, by the number of the change of its slice that made it, and the owner. In a ledger that was restored, another owner may
 * have come to the same number.
 */
export type ClaimMark = {
  readonly run: string;
  readonly slice: number;
  /** Random, new each time a worker takes the slice. */
  readonly owner: string;
  readonly version: number;
  /** When it was claimed (ISO 8601). */
  readonly at: string;
};

/**
 * The last claims of this machine, kept outside of the ledger. A ledger that does not have them is older than they are: it
 * was restored from a backup.
 */
export type ClaimMarks = {
  /** Of this process and of others on this machine. */
  readonly read: (ledger: string) => readonly ClaimMark[];
  /** To be called when the claims are committed, and before a byte of them leaves. */
  readonly write: (ledger: string, marks: readonly ClaimMark[]) => void;
  /** The ledger has all that were read: those of processes that are gone need not be kept, but for the newest. */
  readonly prune: (ledger: string) => void;
  /**
   * An operator said that the ledger is another one from now on, in that place (as `serverLocation` has it). What is called
   * by the former name there later is a backup of before.
   */
  readonly markReplaced: (former: string, location: string | null) => void;
  /** Where another ledger took the place of this one; undefined where none has. */
  readonly replacedAt: (ledger: string) => { readonly location: string | null } | undefined;
  readonly close: () => void;
};

/** Keeps marks for as long as the process lives. */
export function createMemoryClaimMarks(): ClaimMarks {
  const last = new Map<string, readonly ClaimMark[]>();
  const replaced = new Map<string, { readonly location: string | null }>();
  return {
    read: (ledger) => last.get(ledger) ?? [],
    write: (ledger, marks) => void last.set(ledger, marks),
    prune: () => undefined,
    markReplaced: (former, location) => void replaced.set(former, { location }),
    replacedAt: (ledger) => replaced.get(ledger),
    close: () => undefined,
  };
}
