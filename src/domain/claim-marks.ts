/** The version and owner of a claimed slice. In a restored ledger another owner may reach the same version. */
export type ClaimMark = {
  readonly run: string;
  readonly slice: number;
  /** Random; new with each acquisition. */
  readonly owner: string;
  readonly version: number;
  /** ISO 8601. */
  readonly at: string;
};

/** A run that this machine has sent from, as it is noted outside of the ledger. */
export type BegunRun = {
  readonly run: string;
  readonly campaign: string;
  /** Hexadecimal; null for reruns and tests, which are no repetitions. */
  readonly fingerprint: string | null;
  /** Of the ledger that had the run. */
  readonly ledger: string;
  /** Scheme, host and port of the service: what another service got is no repetition. */
  readonly service: string;
  /** ISO 8601. When this machine last began to send a slice of it, by up to a minute. */
  readonly at: string;
  /** ISO 8601. The note is deleted then. */
  readonly keptUntil: string;
};

/**
 * The last claims of this machine, outside of the ledger. A ledger that lacks them was restored from a backup.
 */
export type ClaimMarks = {
  /** Includes marks of other processes on this machine. */
  readonly read: (ledger: string) => readonly ClaimMark[];
  /** Call it after the claims are committed and before the first byte is sent. */
  readonly write: (ledger: string, marks: readonly ClaimMark[]) => void;
  /** Call it when the ledger contains every mark that was read. Deletes the marks of ended processes, except the newest. */
  readonly prune: (ledger: string) => void;
  /**
   * An operator replaced the ledger `former` by another at `location` (see `readServerLocation`). A ledger that
   * later appears there under the former name is a backup.
   */
  readonly markReplaced: (former: string, location: string | null) => void;
  /** Undefined if the ledger was not replaced. */
  readonly replacedAt: (ledger: string) => { readonly location: string | null } | undefined;
  /** Synchronised to disk when it returns. Call it before the first byte is sent, in any ledger. */
  readonly writeRun: (begun: BegunRun, now: Date) => void;
  /** Of all processes of this machine and of all ledgers, the newest first. */
  readonly readRuns: (now: Date) => readonly BegunRun[];
  readonly close: () => void;
};

export function createMemoryClaimMarks(): ClaimMarks {
  const last = new Map<string, readonly ClaimMark[]>();
  const runs = new Map<string, BegunRun>();
  const replaced = new Map<string, { readonly location: string | null }>();
  return {
    read: (ledger) => last.get(ledger) ?? [],
    write: (ledger, marks) => void last.set(ledger, marks),
    prune: () => undefined,
    markReplaced: (former, location) => void replaced.set(former, { location }),
    replacedAt: (ledger) => replaced.get(ledger),
    writeRun: (begun) => void runs.set(begun.run, begun),
    readRuns: (now) =>
      [...runs.values()]
        .filter(({ keptUntil }) => keptUntil > now.toISOString())
        .toSorted((one, other) => other.at.localeCompare(one.at)),
    close: () => undefined,
  };
}
