import { recipientArrays } from '../requests/recipient-arrays.ts';
import type { Transaction } from '../session.ts';
import { hasTariffs, type PlannedRun } from './planned-run.ts';

/** A block has the requests whose first recipients are in the same stretch of so many. A larger one is alone in its block. */
const recipientsInStretch = 32;

/**
 * Numbers the staged contacts into requests, and puts what is sent to whom into blocks of requests, none of which has
 * requests of two slices.
 */
export async function insertContents(
  client: Transaction,
  { run, chunkSize, rates }: PlannedRun,
): Promise<void> {
  await client.query(
    `
    WITH numbered AS (
      SELECT z.envelope, z.requests_before + 1 + s.rank / $2 AS request, s.rank % $2 + 1 AS position,
             least($2, z.recipients - s.rank / $2 * $2) AS size,
             (z.recipients_before + s.rank / $2 * $2) / $3 AS stretch,
             s.line, s.address, s.original_address, s.parts, s.destination,
             ${hasTariffs({ rates }) ? 's.tariff' : 'CAST(NULL AS smallint)'} AS tariff
      FROM (
        SELECT *, CAST(row_number() OVER (PARTITION BY envelope ORDER BY line) - 1 AS integer) AS rank
        FROM staged_contacts
      ) s
      JOIN sized_envelopes z ON z.staged = s.envelope
    ), sliced AS (
      SELECT *, width_bucket(request, (
                  SELECT array_agg(first_request ORDER BY first_request) FROM slices WHERE run_id = $1 AND phase = 'sending'
                )) AS slice
      FROM numbered
    ), blocked AS (
      -- In the order in which they are put together, so that they are sorted once.
      SELECT *, first_value(request) OVER (PARTITION BY slice, stretch ORDER BY request, position) AS first_request
      FROM sliced
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, min(request), max(request), slice,
           array_agg(envelope ORDER BY request, position) FILTER (WHERE position = 1),
           array_agg(size ORDER BY request, position) FILTER (WHERE position = 1),
           array_agg(request - first_request ORDER BY request, position),
           array_agg(position ORDER BY request, position),
           ${recipientArrays}
    FROM blocked
    GROUP BY slice, stretch
    `,
    [run, chunkSize, recipientsInStretch],
  );
}
