import { recipientArrays } from '../requests/recipient-arrays.ts';
import type { Transaction } from '../session.ts';
import { hasTariffs, type PlannedRun } from './planned-run.ts';

/** First recipients this close share a block. A larger request has a block of its own. */
const recipientsPerBlock = 32;

/** Numbers staged contacts into requests and stores them in blocks. No block spans two slices. */
export async function insertContents(
  client: Transaction,
  { run, chunkSize, rates }: PlannedRun,
): Promise<void> {
  await client.query(
    `
    WITH placed AS (
      -- In request order, so that the blocks below need no sort.
      SELECT z.envelope, z.recipients, z.requests_before, z.recipients_before,
             CAST(row_number() OVER (ORDER BY z.envelope, s.line) - 1 - z.recipients_before AS integer) AS rank,
             s.line, s.address, s.original_address, s.parts, s.destination,
             ${hasTariffs({ rates }) ? 's.tariff' : 'CAST(NULL AS smallint)'} AS tariff
      FROM staged_contacts s
      JOIN sized_envelopes z ON z.staged = s.envelope
    ), numbered AS (
      SELECT *, requests_before + 1 + rank / $2 AS request, rank % $2 + 1 AS position,
             least($2, recipients - rank / $2 * $2) AS size,
             (recipients_before + rank / $2 * $2) / $3 AS stretch
      FROM placed
    ), sliced AS (
      SELECT *, width_bucket(request, (
                  SELECT array_agg(first_request ORDER BY first_request) FROM slices WHERE run_id = $1 AND phase = 'sending'
                )) AS slice
      FROM numbered
    ), blocks AS (
      SELECT min(request) AS first_request, max(request) AS last_request, slice,
             array_agg(envelope ORDER BY request, position) FILTER (WHERE position = 1) AS envelopes,
             array_agg(size ORDER BY request, position) FILTER (WHERE position = 1) AS sizes,
             array_agg(request ORDER BY request, position) AS requests,
             array_agg(position ORDER BY request, position) AS positions,
             ${recipientArrays}
      FROM sliced
      GROUP BY slice, stretch
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, first_request, last_request, slice, envelopes, sizes,
           ARRAY(SELECT request - first_request FROM unnest(requests) AS request), positions, lines,
           addresses, original_addresses, parts, tariffs, destinations
    FROM blocks
    `,
    [run, chunkSize, recipientsPerBlock],
  );
}
