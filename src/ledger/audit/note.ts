import type { Actor, AuditAction, AuditOutcome } from '../../domain/access.ts';
import type { Connection } from '../session.ts';

/** What was done, or refused, to what. */
export type AuditAct = {
  readonly action: AuditAction;
  readonly run?: string | undefined;
  /** The account, month or token that it was done to. */
  readonly subject?: string | undefined;
  /** By name; nothing of recipients. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** Adds to the audit trail; on the connection of what it tells of, where that is a transaction. */
export async function noteAudit(
  client: Connection,
  { who, how, token }: Actor,
  { action, run, subject, details = {} }: AuditAct,
  outcome: AuditOutcome,
  at: Date,
): Promise<void> {
  await client.query(
    `
    INSERT INTO audit (at, who, how, token, action, run_id, subject, details, outcome)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    `,
    [at, who, how, token, action, run ?? null, subject ?? null, JSON.stringify(details), outcome],
  );
}
