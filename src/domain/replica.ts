/** When the figures of a report were true, and where they were read. */
export type AsOf = {
  readonly at: Date;
  /** Undefined: no replica is set. */
  readonly read?: ReadFrom;
};

export type ReadFrom =
  /** Whole seconds, rounded up; 0: the replica had all that the primary had. */
  | { readonly from: 'replica'; readonly secondsBehind: number }
  | { readonly from: 'primary'; readonly because: ReplicaProblem };

/** Why a replica was not read. */
export type ReplicaProblem =
  /** `code`: of the system or of Postgres; null: it did not answer in time, or the connection ended. */
  | { readonly kind: 'away'; readonly code: string | null }
  /** Seconds; null: it has replayed nothing yet since its start. */
  | { readonly kind: 'behind'; readonly seconds: number | null; readonly allowed: number }
  | { readonly kind: 'no standby' }
  | { readonly kind: 'another ledger' }
  /** It has WAL that the primary lacks, so it follows another server. */
  | { readonly kind: 'ahead' }
  /** A migration has not arrived. */
  | { readonly kind: 'another schema' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'lacks it' };

/** Names no host, user or address: callers of the API read it too. */
export function replicaProblemText(problem: ReplicaProblem): string {
  switch (problem.kind) {
    case 'away':
      return `the replica does not answer${problem.code === null ? '' : ` (${problem.code})`}`;
    case 'behind': {
      const { seconds, allowed } = problem;
      const far = seconds === null ? 'an unknown time' : `${seconds} s`;
      return `the replica is ${far} behind, and ${allowed} s are allowed`;
    }
    case 'no standby':
      return 'the replica is no standby, or not any more: it takes changes of its own';
    case 'another ledger':
      return 'the replica is of another ledger';
    case 'ahead':
      return 'the replica has changes that the primary lacks, so it follows another server';
    case 'another schema':
      return 'the replica lacks a migration that the primary has';
    case 'cancelled':
      return 'the replica cancelled a query, to replay changes of the primary';
    case 'lacks it':
      return 'the replica does not have it yet';
  }
}

/** A report was refused, because only the replica may be read (VOLLEY_READ_REPLICA) and it cannot be. */
export class ReplicaError extends Error {
  override readonly name = 'ReplicaError';

  constructor(problem: ReplicaProblem) {
    super(
      `Refused: ${replicaProblemText(problem)}. VOLLEY_READ_REPLICA is "require", so the primary was not read. \`volley doctor\` says more.`,
    );
  }
}
