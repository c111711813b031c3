import type pg from 'pg';
import type { RequestState } from '../../domain/runs.ts';
import { reportProof } from '../requests/proof.ts';
import type { MatchedRecipient } from './matched.ts';

/** States in which a report may still prove something. */
const unproven: readonly RequestState[] = ['planned', 'sending', 'in_doubt'];

/**
 * A report or a reply proves that the service accepted the request: one that is in doubt, or waits to be sent again after a doubt, is
 * accepted, and of one that is being sent it is kept for the case that its answer is lost.
 */
export async function proveAccepted(
  client: pg.ClientBase,
  recipients: readonly MatchedRecipient[],
): Promise<void> {
  const requests = recipients.filter(({ isProof, state }) => isProof && unproven.includes(state));
  if (requests.length === 0) return;
  await client.query(
    `
    WITH proven AS MATERIALIZED (
      SELECT run_id, request, q.state
      FROM requests q
      WHERE (run_id, request) IN (SELECT * FROM unnest($1::text[], $2::integer[]))
        AND (q.state = 'in_doubt'
             OR (q.state = 'sending' AND NOT q.reported)
             OR (q.state = 'planned' AND q.resends > 0))
      ORDER BY run_id, request
      FOR NO KEY UPDATE
    )
    UPDATE requests q
    SET reported = true,
        state = CASE q.state WHEN 'sending' THEN 'sending' ELSE 'accepted' END,
        reason = CASE q.state WHEN 'sending' THEN q.reason ELSE '${reportProof}' END
    FROM proven p
    WHERE q.run_id = p.run_id AND q.request = p.request
    `,
    [requests.map(({ run }) => run), requests.map(({ request }) => request)],
  );
}
