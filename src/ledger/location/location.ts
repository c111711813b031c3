import type { ClaimMark } from '../../domain/claim-marks.ts';
import type { HoldReason } from '../../domain/hold-reasons.ts';
import { codeOf } from '../../platform/file-error.ts';
import { batchOf } from '../batch.ts';
import { holdReason, reasonValue, type Stored } from '../reasons.ts';
import type { Connection } from '../session.ts';

/** Which ledger this is, and where. A ledger on hold grants no claims. */
export type LedgerLocation = {
  /** New after each restore that an operator declares. */
  readonly ledger: string;
  /** As in `readServerLocation`; null if unknown. */
  readonly location: string | null;
  /** Null: it is not on hold. */
  readonly holdReason: HoldReason | null;
  /** It lacks something that is known to have been done, and may lack more. */
  readonly incomplete: boolean;
  /** Whether the server only replays the changes of another. */
  readonly isStandby: boolean;
};

export async function readLocation(client: Connection): Promise<LedgerLocation> {
  const { rows } = await client.query<Stored<LedgerLocation, 'holdReason'>>(
    `SELECT ledger, location, held_reason AS "holdReason", incomplete, pg_is_in_recovery() AS "isStandby"
     FROM ledger_location`,
  );
  const [location] = rows;
  if (!location)
    throw new Error(
      'The table ledger_location is empty, so the ledger has no identity. Restore it from a backup.',
    );
  return { ...location, holdReason: holdReason(location.holdReason) };
}

/** The timeline is that of the current WAL; the control file has that of the last checkpoint. */
const locationStatement = `
  SELECT concat_ws('/', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid) AS location
  FROM pg_control_system() c, pg_database d
  WHERE d.datname = current_database()`;

/** Errors of servers that hide it: undefined function, insufficient privilege, not supported. */
const locationUnavailable = /^(42883|42501|0A000)$/;

/**
 * Reads where the server writes: `system/timeline/database`. A restored dump has another database; a restored base
 * backup or promoted stand-by has another timeline.
 *
 * @returns null if the server hides it
 */
export async function readServerLocation(client: Connection): Promise<string | null> {
  try {
    const { rows } = await client.query<{ location: string }>(locationStatement);
    return rows[0]?.location ?? null;
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (locationUnavailable.test(code)) return null;
    // A server in recovery gets its timeline when promoted; until then it counts as unavailable.
    if (code === '55000')
      throw Object.assign(new Error('the server is a read-only stand-by'), { code: '25006' });
    throw error;
  }
}

/** Restricts claims of this session to a ledger with the location of its server. */
export async function bindToLocation(client: Connection): Promise<void> {
  const location = await readServerLocation(client);
  await client.query(`SELECT set_config('volley.location', $1, false)`, [location ?? '']);
}

/** The ledger and its last claim: without both, no claim is committed. */
export type ClaimFence = {
  readonly ledger: string;
  readonly last: ClaimMark | null;
};

/** SQL: whether the ledger has a claim. Former owners are known by the version at which they acquired the slice. */
function hasClaim(run: string, slice: string, owner: string, version: string): string {
  return `EXISTS (
    SELECT FROM slices s
    WHERE s.run_id = ${run} AND s.slice = ${slice} AND s.version >= ${version}
      AND ${owner} IN (s.owner, (
        SELECT h.owner
        FROM slice_owners h
        WHERE h.run_id = ${run} AND h.slice = ${slice} AND h.version <= ${version}
        ORDER BY h.version DESC
        LIMIT 1
      ))
  )`;
}

/**
 * SQL: whether claims are allowed, as part of the statement that claims.
 *
 * @param first number of the first of the five `fenceValues`
 */
export function mayClaim(first: number): string {
  const [ledger, run, slice, owner, version] = [0, 1, 2, 3, 4].map((index) => `$${first + index}`);
  const isKnown = hasClaim(`${run}::text`, `${slice}::integer`, `${owner}::uuid`, `${version}::integer`);
  return `(EXISTS (
    SELECT FROM ledger_location
    WHERE singleton AND held_at IS NULL AND (${ledger}::uuid IS NULL OR ledger = ${ledger}::uuid)
      AND (location IS NULL OR coalesce(current_setting('volley.location', true), '') IN ('', location))
  ) AND (${run}::text IS NULL OR ${isKnown}))`;
}

export function fenceValues(fence: ClaimFence | null): unknown[] {
  const { run = null, slice = null, owner = null, version = null } = fence?.last ?? {};
  return [fence?.ledger ?? null, run, slice, owner, version];
}

const claims = batchOf<ClaimMark>({
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  owner: ['uuid', ({ owner }) => owner],
  version: ['integer', ({ version }) => version],
});

export async function findMissingClaim(
  client: Connection,
  marks: readonly ClaimMark[],
): Promise<ClaimMark | undefined> {
  if (marks.length === 0) return undefined;
  const { rows } = await client.query<{ ordinal: number }>(
    `
    SELECT CAST(ordinal AS integer) AS ordinal
    FROM ${claims.table('m', 1, 'ordinal')}
    WHERE NOT ${hasClaim('m.run_id', 'm.slice', 'm.owner', 'm.version')}
    ORDER BY ordinal
    LIMIT 1
    `,
    claims.values(marks),
  );
  const [row] = rows;
  return row && marks[row.ordinal - 1];
}

/** Records the location if the ledger has none yet. */
export async function recordLocation(client: Connection, location: string): Promise<void> {
  await client.query('UPDATE ledger_location SET location = $1 WHERE location IS NULL', [location]);
}

type Hold = { readonly reason: HoldReason; readonly incomplete: boolean };

/** Puts the ledger on hold: nothing is claimed. An earlier hold keeps its reason, unless it is now known to be incomplete. */
export async function holdLedger(client: Connection, { reason, incomplete }: Hold, now: Date): Promise<void> {
  await client.query(
    `UPDATE ledger_location
     SET held_at = coalesce(held_at, $1), held_reason = $2, incomplete = $3
     WHERE held_at IS NULL OR ($3 AND NOT incomplete)`,
    [now, reasonValue(reason), incomplete],
  );
}

/** Ends the hold, because an operator declares ledger and location valid. */
export async function releaseLedger(
  client: Connection,
  ledger: string,
  location: string | null,
): Promise<void> {
  await client.query(
    `UPDATE ledger_location
     SET ledger = $1, location = $2, held_at = NULL, held_reason = NULL, incomplete = false`,
    [ledger, location],
  );
}
