import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { Connection } from '../session.ts';

export type ConflictingDeliveryReport = {
  readonly messageId: string | null;
  /** Null: erased. */
  readonly address: string | null;
  readonly receivedAt: Date;
  /** `result` is in the service's words. */
  readonly outcome: DeliveryOutcome;
  readonly result: string | null;
  readonly decided: DeliveryOutcome | null;
  readonly decidedResult: string | null;
  readonly decidedAt: Date | null;
};

/** Lists conflicting delivery reports in order of arrival. */
export async function listConflicting(
  client: Connection,
  run: string,
  limit: number,
): Promise<ConflictingDeliveryReport[]> {
  const { rows } = await client.query<ConflictingDeliveryReport>(
    `
    SELECT k.message_id AS "messageId", k.address, k.received_at AS "receivedAt", k.outcome, k.result,
           o.outcome AS decided, o.result AS "decidedResult", o.reported_at AS "decidedAt"
    FROM unusual_delivery_reports k
    LEFT JOIN recipient_outcomes o
      ON o.run_id = k.run_id AND o.request = k.request AND o.position = k.position AND o.outcome <> 'cancelled'
    WHERE k.run_id = $1 AND k.state = 'conflicting'
    ORDER BY k.report_id
    LIMIT $2
    `,
    [run, limit],
  );
  return rows;
}
