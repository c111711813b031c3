import type { DeliveryReportMethod } from '../../domain/delivery-reports.ts';
import type { Transaction } from '../session.ts';
import type { RawCall, RawReport } from './report-content.ts';

export type QueuedReport = RawReport & {
  /** Readings that matched no request. */
  readonly attempts: number;
  /** Whether it may have been read before. */
  readonly reread: boolean;
};

/** Entries that one call locks; a busy one has dozens of reports. */
const maxEntries = 50;

/** Bytes in memory, without the last entry. */
const maxBytes = 16 * 1024 * 1024;

/** Some calls of a block that wait to be read. Ids are bigints that a number holds exactly. */
type QueueEntry = Pick<QueuedReport, 'attempts' | 'reread'> & {
  readonly first: number;
  readonly last: number;
  /** Null: all from the first to the last. */
  readonly reports: readonly number[] | null;
  /** Where they are. */
  readonly blocks: readonly number[];
};

/**
 * Dequeues the reports due longest, except entries locked by another applier, in order of arrival.
 *
 * @param limit number of reports after which no more entries are dequeued
 */
export async function dequeueReports(client: Transaction, limit: number, now: Date): Promise<QueuedReport[]> {
  for (;;) {
    const entries = await dequeueEntries(client, limit, now);
    const reports = entries.length > 0 ? await readCalls(client, entries) : [];
    // All calls of these entries may have been erased while they waited.
    if (entries.length === 0 || reports.length > 0) return reports;
  }
}

async function dequeueEntries(client: Transaction, limit: number, now: Date): Promise<QueueEntry[]> {
  const { rows } = await client.query<QueueEntry>({
    name: 'dequeue-reports',
    text: `
    WITH dequeued AS (
      DELETE FROM inbox_waiting
      WHERE entry = ANY (ARRAY(
        SELECT entry
        FROM (
          SELECT entry,
                 sum(bytes) OVER earlier AS bytes_before,
                 sum(calls) OVER earlier AS calls_before
          FROM (
            SELECT entry, due_at, bytes, calls
            FROM inbox_waiting
            WHERE due_at <= $2
            ORDER BY due_at, entry
            LIMIT least($1, ${maxEntries})
            FOR UPDATE SKIP LOCKED
          ) due
          WINDOW earlier AS (ORDER BY due_at, entry ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        ) counted
        WHERE coalesce(bytes_before, 0) < $3 AND coalesce(calls_before, 0) < $1
      ))
      RETURNING *
    )
    SELECT CAST(first_report AS float8) AS first, CAST(last_report AS float8) AS last,
           CAST(report_ids AS float8[]) AS reports, attempts, reread,
           CAST(CASE WHEN report_ids IS NULL THEN ARRAY[first_report] ELSE ARRAY(SELECT blocks_of(report_ids)) END AS float8[]) AS blocks
    FROM dequeued
    `,
    values: [limit, now, maxBytes],
  });
  return rows;
}

async function readCalls(client: Transaction, entries: readonly QueueEntry[]): Promise<QueuedReport[]> {
  const blocks = [...new Set(entries.flatMap((entry) => entry.blocks))];
  // Not prepared: with the ids, Postgres plans for their partitions only.
  const { rows } = await client.query<DbBlock>(readBlocks, [blocks]);
  const calls = new Map(rows.flatMap(callsOfBlock));
  const wanted = new Map<number, Pick<QueueEntry, 'attempts' | 'reread'>>();
  for (const { first, last, reports, attempts, reread } of entries) {
    const ids = reports ?? Array.from({ length: last - first + 1 }, (_, index) => first + index);
    for (const id of ids) {
      // A report replayed while it waited is in two entries.
      const other = wanted.get(id);
      wanted.set(id, {
        attempts: Math.min(attempts, other?.attempts ?? attempts),
        reread: reread || other?.reread === true,
      });
    }
  }
  const missing = [...wanted.keys()].filter((id) => !calls.has(id));
  if (missing.length > 0) for (const call of await findCalls(client, missing)) calls.set(...call);
  return [...wanted]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([id, entry]) => {
      const call = calls.get(id);
      return call ? [{ report: String(id), ...call, ...entry }] : [];
    });
}

type DbBlock = {
  readonly first: number;
  readonly offsets: readonly number[] | null;
  readonly accounts: readonly string[];
  /** ISO 8601. */
  readonly receivedAt: readonly string[];
  readonly methods: readonly DeliveryReportMethod[];
  readonly contentTypes: readonly string[];
  readonly lengths: readonly number[];
  /** All of them. */
  readonly bodies: Buffer;
};

/** Arrays travel as JSON, which is read 20 times as fast as arrays are, and the bodies as one value. */
const readBlocks = `
  SELECT CAST(first_report AS float8) AS first, array_to_json(offsets) AS offsets, array_to_json(accounts) AS accounts,
         array_to_json(received_at) AS "receivedAt", array_to_json(methods) AS methods,
         array_to_json(content_types) AS "contentTypes", b.lengths, b.bodies
  FROM inbox_blocks
  CROSS JOIN LATERAL (
    SELECT json_agg(octet_length(body) ORDER BY place) AS lengths, string_agg(body, '' ORDER BY place) AS bodies
    FROM unnest(bodies) WITH ORDINALITY AS b (body, place)
  ) b
  WHERE first_report = ANY ($1::bigint[])
`;

function callsOfBlock(block: DbBlock): [number, RawCall][] {
  let end = 0;
  return block.lengths.map((length, index) => {
    const begin = end;
    end += length;
    return [
      block.first + (block.offsets?.[index] ?? index),
      {
        account: block.accounts[index] ?? '',
        receivedAt: new Date(block.receivedAt[index] ?? ''),
        method: block.methods[index] ?? 'POST',
        contentType: block.contentTypes[index] ?? '',
        body: block.bodies.subarray(begin, end),
      },
    ];
  });
}

/** Finds calls that Volley 0.3.0 received, or whose block has just been folded into another. */
async function findCalls(client: Transaction, ids: readonly number[]): Promise<[number, RawCall][]> {
  const { rows } = await client.query<RawCall & { readonly id: number }>(
    `
    SELECT CAST(report_id AS float8) AS id, account, received_at AS "receivedAt", method, content_type AS "contentType", body
    FROM calls_of($1::bigint[])
    `,
    [ids],
  );
  return rows.map(({ id, ...call }) => [id, call]);
}
