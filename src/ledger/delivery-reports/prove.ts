import type pg from 'pg';
import type { RequestState } from '../../domain/runs.ts';
import { holdLedger } from '../place/place.ts';
import { reportProof } from '../requests/proof.ts';
import type { MatchedRecipient } from './matched.ts';

type Named = { readonly run: string; readonly request: number };

/** `isUntried`: the ledger never tried the request. */
type DbProven = Named & { readonly isUntried: boolean; readonly messageId: string };

/** States in which a report may still prove something. */
const unproven: readonly RequestState[] = ['planned', 'sending', 'in_doubt'];

/**
 * A report or a reply proves that the service accepted the request: one that is in doubt, or waits to be sent again after a doubt, is
 * accepted, and of one that is being sent it is kept for the case that its answer is lost.
 *
 * Where the ledger never tried the request, another one did: this one was restored from a backup, or is a copy. Then it is
 * held, so that nothing more is claimed from it, and the run is noted: what is planned of it is to be in doubt.
 */
export async function proveAccepted(
  client: pg.ClientBase,
  recipients: readonly MatchedRecipient[],
  now: Date,
): Promise<void> {
  const requests = recipients.filter(({ isProof, state }) => isProof && unproven.includes(state));
  if (requests.length === 0) return;
  await lockSlices(client, requests);
  const proven = [...(await proveRows(client, requests)), ...(await keepEarlyProofs(client, requests))];
  const untried = proven.filter(({ isUntried }) => isUntried);
  if (untried.length > 0) await noteUntried(client, untried, now);
}

/**
 * Rows are given to requests by transactions that lock the slice: they come before this one, and the statements after this
 * see the rows, or after it, and see what is kept here.
 */
async function lockSlices(client: pg.ClientBase, requests: readonly Named[]): Promise<void> {
  await client.query(
    `
    SELECT
    FROM slices
    WHERE (run_id, slice) IN (
      SELECT p.run_id, c.slice
      FROM unnest($1::text[], $2::integer[]) AS p (run_id, request)
      CROSS JOIN LATERAL contents_between(p.run_id, p.request, p.request) AS c
    )
    ORDER BY run_id, slice
    FOR KEY SHARE
    `,
    columns(requests),
  );
}

async function proveRows(client: pg.ClientBase, requests: readonly Named[]): Promise<DbProven[]> {
  const { rows } = await client.query<DbProven>(
    `
    WITH proven AS MATERIALIZED (
      SELECT run_id, request, q.state, q.state = 'planned' AND q.attempts = 0 AND q.resends = 0 AS untried
      FROM requests q
      WHERE (run_id, request) IN (SELECT * FROM unnest($1::text[], $2::integer[]))
        AND (q.state IN ('in_doubt', 'planned') OR (q.state = 'sending' AND NOT q.reported))
      ORDER BY run_id, request
      FOR NO KEY UPDATE
    )
    UPDATE requests q
    SET reported = true,
        state = CASE WHEN q.state = 'sending' OR p.untried THEN q.state ELSE 'accepted' END,
        reason = CASE WHEN q.state = 'sending' OR p.untried THEN q.reason ELSE '${reportProof}' END
    FROM proven p
    JOIN runs r USING (run_id)
    WHERE q.run_id = p.run_id AND q.request = p.request
    RETURNING q.run_id AS run, q.request, p.untried AS "isUntried",
              message_id(r.run_number, r.message_key, q.request) AS "messageId"
    `,
    columns(requests),
  );
  return rows;
}

/** Of requests that have no row, for when they get one. */
async function keepEarlyProofs(client: pg.ClientBase, requests: readonly Named[]): Promise<DbProven[]> {
  const { rows } = await client.query<DbProven>(
    `
    WITH early AS MATERIALIZED (
      SELECT DISTINCT o.run_id, o.request, o.state
      FROM unnest($1::text[], $2::integer[]) AS p (run_id, request)
      CROSS JOIN LATERAL ordinary_requests_between(p.run_id, p.request, p.request) AS o
      WHERE o.state IN ('planned', 'sending')
    ), kept AS (
      INSERT INTO early_proofs (run_id, request)
      SELECT run_id, request
      FROM early
      ORDER BY run_id, request
      ON CONFLICT DO NOTHING
    )
    SELECT e.run_id AS run, e.request, e.state = 'planned' AS "isUntried",
           message_id(r.run_number, r.message_key, e.request) AS "messageId"
    FROM early e
    JOIN runs r USING (run_id)
    `,
    columns(requests),
  );
  return rows;
}

function columns(requests: readonly Named[]): [string[], number[]] {
  return [requests.map(({ run }) => run), requests.map(({ request }) => request)];
}

async function noteUntried(
  client: pg.ClientBase,
  untried: readonly { readonly run: string; readonly messageId: string }[],
  now: Date,
): Promise<void> {
  const reasons = new Map(
    untried.map(({ run, messageId }) => [
      run,
      `a report or a reply proves that the service has ${messageId}, which this ledger never tried: the ledger was restored from a backup, or a copy of it has sent the run`,
    ]),
  );
  await client.query(
    `INSERT INTO untried_proofs (run_id, reason)
     SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT DO NOTHING`,
    [[...reasons.keys()], [...reasons.values()]],
  );
  // It names no run: whoever may see any run is told why nothing of it is sent.
  const reason =
    'A report or a reply proves that the service has a message which this ledger never tried: the ledger was restored from a backup, or a copy of it has sent.';
  await holdLedger(client, { reason, incomplete: true }, now);
}
