/** A request that was claimed, by the attempt that its claim wrote. It stands for all that was committed with it. */
export type ClaimMark = {
  readonly run: string;
  readonly request: number;
  readonly attempt: number;
  readonly owner: string;
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
  readonly forget: (ledger: string) => void;
  readonly close: () => void;
};

/** Keeps marks for as long as the process lives. */
export function marksInMemory(): ClaimMarks {
  const last = new Map<string, readonly ClaimMark[]>();
  return {
    read: (ledger) => last.get(ledger) ?? [],
    write: (ledger, marks) => void last.set(ledger, marks),
    forget: () => undefined,
    close: () => undefined,
  };
}
