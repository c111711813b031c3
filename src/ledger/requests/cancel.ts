import { reasonOf } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/** `planned → cancelled`, or back to in doubt if the request waits for a resend: the service may have it. */
export async function cancelPlanned(
  client: Transaction,
  run: string,
  now: Date,
  range: { readonly first: number; readonly last: number } | null,
): Promise<void> {
  await client.query(
    `
    UPDATE requests
    SET state = CASE WHEN resends > 0 THEN 'in_doubt' ELSE 'cancelled' END,
        reason = CASE WHEN resends > 0 THEN ${reasonOf('run_cancelled_before_resend')} ELSE ${reasonOf('run_cancelled')} END,
        updated_at = $2
    WHERE run_id = $1 AND state = 'planned' AND ($3::integer IS NULL OR request BETWEEN $3 AND $4)
    `,
    [run, now, range?.first ?? null, range?.last ?? null],
  );
}
