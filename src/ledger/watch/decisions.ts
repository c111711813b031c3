import { type DecisionKind, decisionText } from '../../domain/decisions.ts';
import type { ReadConnection, Transaction } from '../session.ts';

/** Not yet recorded. */
export type NewDecision = {
  readonly kind: DecisionKind;
  /** The operator who decided, with the reason given; null: Volley. */
  readonly by: { readonly user: string; readonly reason: string } | null;
  /** The counts, the test with its limit, and its error rates. */
  readonly record: object;
};

export type RecordedDecision = Omit<NewDecision, 'record' | 'by'> & {
  readonly decidedAt: Date;
  readonly byUser: string | null;
  /** Null: none, or purged. */
  readonly reason: string | null;
  /** As it was recorded, unparsed. */
  readonly record: unknown;
  /** The record in words. */
  readonly why: string;
};

/** Records a decision in the transaction that does what it says. */
export async function insertDecision(
  client: Transaction,
  run: string,
  { kind, by, record }: NewDecision,
  now: Date,
): Promise<void> {
  await client.query(
    `
    INSERT INTO run_decisions (run_id, decided_at, kind, by_user, reason, record)
    VALUES ($1, $2, $3, $4, $5, $6)
    `,
    [run, now, kind, by?.user ?? null, by?.reason ?? null, JSON.stringify(record)],
  );
}

/** Oldest first. */
export async function listDecisions(client: ReadConnection, run: string): Promise<RecordedDecision[]> {
  const { rows } = await client.query<Omit<RecordedDecision, 'why'>>(
    `
    SELECT kind, decided_at AS "decidedAt", by_user AS "byUser", reason, record
    FROM run_decisions
    WHERE run_id = $1
    ORDER BY decision
    `,
    [run],
  );
  return rows.map((row) => ({ ...row, why: decisionText(row.kind, row.record) }));
}
