import type { Actor, AuditAction, AuditInterface, AuditOutcome } from '../../domain/access.ts';
import type { Connection, Transaction } from '../session.ts';

export type AuditEvent = {
  readonly action: AuditAction;
  readonly run?: string | undefined;
  readonly subject?: string | undefined;
  /** Nothing about recipients. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** Adds the entry in the transaction of the change, if there is one. */
export async function addAuditEntry(
  client: Connection,
  { name, via, token }: Actor,
  { action, run, subject, details = {} }: AuditEvent,
  { outcome, at }: { readonly outcome: AuditOutcome; readonly at: Date },
): Promise<void> {
  await client.query(
    `
    INSERT INTO audit (at, actor, via, token, action, run_id, subject, details, outcome)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    `,
    [at, name, via, token, action, run ?? null, subject ?? null, JSON.stringify(details), outcome],
  );
}

/** Adds an entry of something done, unless the actor has one that says the same. @returns whether it was added */
export async function addAuditEntryOnce(
  client: Transaction,
  actor: Actor,
  event: AuditEvent,
  at: Date,
): Promise<boolean> {
  const { action, subject, details = {} } = event;
  // Two calls at once would both find none.
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley audit ' || $1, 0))`, [action]);
  const { rowCount } = await client.query(
    `
    SELECT FROM audit
    WHERE actor = $1 AND action = $2 AND subject = $3 AND CAST(details AS jsonb) = $4 AND outcome = 'done'
    LIMIT 1
    `,
    [actor.name, action, subject, JSON.stringify(details)],
  );
  if (rowCount !== 0) return false;
  await addAuditEntry(client, actor, event, { outcome: 'done', at });
  return true;
}

export type AuditEntry = {
  /** A growing integer, as text. */
  readonly entry: string;
  readonly at: Date;
  readonly who: string;
  readonly how: AuditInterface;
  readonly token: string | null;
  readonly action: AuditAction;
  readonly run: string | null;
  readonly subject: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: AuditOutcome;
};

export type AuditFilter = {
  readonly run?: string | undefined;
  /** One of these. */
  readonly runs?: readonly string[] | undefined;
  readonly who?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly subject?: string | undefined;
  readonly token?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly since?: Date | undefined;
  /** Entries before this time. */
  readonly until?: Date | undefined;
  readonly before?: string | undefined;
};

/** Lists the newest entries first. */
export async function listAudit(
  client: Connection,
  { run, runs, who, action, subject, token, outcome, since, until, before }: AuditFilter,
  limit: number,
): Promise<AuditEntry[]> {
  const { rows } = await client.query<AuditEntry>(
    `
    SELECT entry, at, actor AS who, via AS how, token, action, run_id AS run, subject, details, outcome
    FROM audit
    WHERE ($1::text IS NULL OR run_id = $1)
      AND ($2::text IS NULL OR actor = $2)
      AND ($3::text IS NULL OR action = $3)
      AND ($4::timestamptz IS NULL OR at >= $4)
      AND ($5::bigint IS NULL OR entry < $5)
      AND ($6::text IS NULL OR subject = $6)
      AND ($7::text IS NULL OR token = $7)
      AND ($8::text IS NULL OR outcome = $8)
      AND ($9::timestamptz IS NULL OR at < $9)
      AND ($11::text[] IS NULL OR run_id = ANY ($11))
    ORDER BY entry DESC
    LIMIT $10
    `,
    [
      run ?? null,
      who ?? null,
      action ?? null,
      since ?? null,
      before ?? null,
      subject ?? null,
      token ?? null,
      outcome ?? null,
      until ?? null,
      limit,
      runs ?? null,
    ],
  );
  return rows;
}
