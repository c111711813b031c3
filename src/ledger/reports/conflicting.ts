import type pg from 'pg';
import type { DeliveryOutcome } from '../../domain.ts';

/** A report that says something else than the one that decided. */
export type ConflictingReport = {
  readonly messageId: string;
  readonly address: string;
  readonly receivedAt: Date;
  /** What it says, in our words and in the service's. */
  readonly outcome: DeliveryOutcome;
  readonly result: string | null;
  /** What was decided; null where that was taken back since. */
  readonly decided: DeliveryOutcome | null;
  readonly decidedResult: string | null;
  readonly decidedAt: Date | null;
};

/** Reports of a run that say another final outcome than the first one of their recipient did: all, and the first ones. */
export type Conflicts = {
  readonly reports: number;
  readonly recipients: number;
  readonly listed: readonly ConflictingReport[];
};

/** @param limit so many are listed */
export async function findConflicts(
  client: pg.Pool | pg.ClientBase,
  run: string,
  limit: number,
): Promise<Conflicts> {
  const { rows: counts } = await client.query<Omit<Conflicts, 'listed'>>(
    `
    SELECT count(*)::integer AS reports, count(DISTINCT (request, position))::integer AS recipients
    FROM reports
    WHERE run_id = $1 AND state = 'conflicting'
    `,
    [run],
  );
  const { rows: listed } = await client.query<ConflictingReport>(
    `
    SELECT k.message_id AS "messageId", k.address, k.received_at AS "receivedAt", k.outcome, k.result,
           o.outcome AS decided, o.result AS "decidedResult", o.reported_at AS "decidedAt"
    FROM reports k
    LEFT JOIN recipient_outcomes o
      ON o.run_id = k.run_id AND o.request = k.request AND o.position = k.position AND o.outcome <> 'cancelled'
    WHERE k.run_id = $1 AND k.state = 'conflicting'
    ORDER BY k.report_id
    LIMIT $2
    `,
    [run, limit],
  );
  const { reports = 0, recipients = 0 } = counts[0] ?? {};
  return { reports, recipients, listed };
}
