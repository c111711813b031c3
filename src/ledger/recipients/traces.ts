import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { comparedAddress } from '../compared-address.ts';
import { requestOf } from '../request-rows.ts';
import { recipientsWithAddress } from './find.ts';

/** A row of a kept contact file. `line` continues from file to file. */
export type KeptLine = { readonly run: string; readonly line: number };

/** What a run has of an address. `requests` and `positions` have an element for each recipient. */
export type AddressTrace = {
  readonly run: string;
  readonly ended: boolean;
  /** Some of these requests can still be sent, or may have arrived. */
  readonly unsettled: boolean;
  readonly requests: readonly number[];
  readonly positions: readonly number[];
  /** The address as in the contact file, where it differs. */
  readonly spellings: readonly string[];
  /** Lines of these recipients, and of rejected contacts. */
  readonly lines: readonly number[];
};

const keptLines = batchOf<KeptLine>({
  run: ['text', ({ run }) => run],
  line: ['integer', ({ line }) => line],
});

/** SQL: each run, and the run that keeps its contact files. */
const families = `families AS (
  SELECT run_id, run_id AS origin FROM runs WHERE source_run IS NULL
  UNION ALL
  SELECT r.run_id, f.origin FROM runs r JOIN families f ON r.source_run = f.run_id
)`;

/** Lists lines of recipients with this address, under the run that keeps their contact file. */
export async function listLinesOfAddress(pool: pg.Pool, address: string): Promise<KeptLine[]> {
  const { rows } = await pool.query<KeptLine>(
    `
    WITH RECURSIVE ${families}
    SELECT DISTINCT f.origin AS run, r.line
    FROM ${recipientsWithAddress(address)} r
    JOIN families f USING (run_id)
    `,
    [address],
  );
  return rows;
}

/**
 * Lists runs that have the address, or a contact of these lines, the oldest first. Purged ones have none.
 *
 * @param lines of kept contact files; the reruns of a run have contacts of its lines too
 */
export async function findAddressTraces(
  pool: pg.Pool,
  address: string,
  lines: readonly KeptLine[],
): Promise<AddressTrace[]> {
  const { rows } = await pool.query<AddressTrace>(
    `
    WITH RECURSIVE ${families}, wanted AS MATERIALIZED (
      SELECT f.run_id, k.line FROM ${keptLines.table('k', 2)} JOIN families f ON f.origin = k.run
    ), found AS MATERIALIZED (
      SELECT r.run_id, r.request, r.position, r.line, r.original_address FROM ${recipientsWithAddress(address)} r
      UNION
      SELECT r.run_id, r.request, r.position, r.line, r.original_address
      FROM wanted w
      JOIN contents c ON c.run_id = w.run_id AND w.line = ANY (c.lines)
      CROSS JOIN LATERAL recipients_between(c.run_id, c.first_request, c.last_request) r
      WHERE r.line = w.line AND ${comparedAddress('r.address')} <> ''
    ), at_lines AS (
      SELECT run_id, line FROM found
      UNION
      SELECT run_id, line FROM wanted JOIN rejected_contacts x USING (run_id, line)
      UNION
      SELECT k.run, k.line FROM ${keptLines.table('k', 2)}
    )
    SELECT r.run_id AS run, r.state IN ('completed', 'cancelled') AS ended, p.unsettled, p.requests, p.positions, p.spellings,
           ARRAY(SELECT line FROM at_lines l WHERE l.run_id = r.run_id ORDER BY line) AS lines
    FROM runs r
    CROSS JOIN LATERAL (
      SELECT coalesce(bool_or(q.state IN ('planned', 'sending', 'in_doubt')), false) AS unsettled,
             coalesce(array_agg(f.request ORDER BY f.request, f.position), '{}') AS requests,
             coalesce(array_agg(f.position ORDER BY f.request, f.position), '{}') AS positions,
             coalesce(array_agg(DISTINCT f.original_address) FILTER (WHERE f.original_address IS NOT NULL), '{}') AS spellings
      FROM found f
      CROSS JOIN ${requestOf('f.run_id', 'f.request')} q
      WHERE f.run_id = r.run_id
    ) p
    WHERE r.run_id IN (SELECT run_id FROM at_lines) AND r.purged_at IS NULL
    ORDER BY r.created_at, r.run_id
    `,
    [address, ...keptLines.values(lines)],
  );
  return rows;
}
