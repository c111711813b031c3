import type pg from 'pg';
import { splitByRequest } from '../../domain/destinations.ts';
import type { Destinations, Envelope } from '../../domain/message.ts';
import { comparedAddress } from '../compared-address.ts';
import type { SliceKey } from '../slice-states/transitions.ts';
import { type HashKey, hashedAddress, hashKeyMatches, requireHashKey } from '../suppressions/hash.ts';

export type SliceRange = SliceKey & { readonly first: number; readonly last: number };

/** A planned request without a row: no attempt, and no suppressed recipient. */
export type OrdinaryRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly envelope: number;
  readonly destinations: Destinations;
};

type Contents = {
  readonly requests: readonly OrdinaryRequest[];
  /** With a suppressed recipient: each needs a row before a claim covers it. */
  readonly suppressed: readonly number[];
  /** The last request that was read; undefined at the end of the slice. */
  readonly readTo: number | undefined;
  /** The suppressions that were checked. With newer ones, a claim is refused. */
  readonly epoch: string;
};

const blocksPerRead = 32;

type DbBlock = {
  readonly first_request: number;
  readonly last_request: number;
  readonly envelopes: readonly number[];
  readonly sizes: readonly number[];
  readonly addresses: string;
  readonly destinations: string | null;
  readonly message_ids: readonly string[];
  readonly with_rows: readonly number[];
  readonly suppressed: readonly number[];
  readonly epoch: string;
  readonly key_fits: boolean;
};

/**
 * Checks recipients against the suppressions of all SubAccounts; `claimRows` checks the SubAccount.
 *
 * @param after the last request that was read or claimed
 * @throws InputError if suppressions are stored as hashes of another key
 */
export async function readContents(
  pool: pg.Pool,
  { run, last }: SliceRange,
  after: number,
  key: HashKey | null,
): Promise<Contents> {
  const { rows } = await pool.query<DbBlock>({
    name: 'read-contents',
    text: readStatement,
    values: [run, after, last, key?.inner ?? null, key?.outer ?? null, blocksPerRead],
  });
  if (rows.some(({ key_fits }) => !key_fits)) await requireHashKey(pool, key);
  const requests: OrdinaryRequest[] = [];
  const suppressed: number[] = [];
  for (const block of rows) {
    const excluded = new Set([...block.with_rows, ...block.suppressed]);
    suppressed.push(
      ...block.suppressed.filter((request) => request > after && !block.with_rows.includes(request)),
    );
    requests.push(...requestsOf(block).filter(({ request }) => request > after && !excluded.has(request)));
  }
  const readTo = rows.at(-1)?.last_request;
  const epoch = rows[0]?.epoch ?? '';
  return { requests, suppressed, readTo: readTo === undefined || readTo >= last ? undefined : readTo, epoch };
}

function requestsOf({ first_request, envelopes, sizes, addresses, destinations, message_ids }: DbBlock) {
  const count = sizes.reduce((sum, size) => sum + size, 0);
  return splitByRequest({ count, addresses, fields: destinations }, sizes).map(
    (own, index): OrdinaryRequest => ({
      request: first_request + index,
      messageId: message_ids[index] ?? '',
      envelope: envelopes[index] ?? 0,
      destinations: own,
    }),
  );
}

// LIMIT 1 looks suppressions up by address; EXISTS may read them all.
const readStatement = `
  SELECT c.first_request, c.last_request, to_json(c.envelopes) AS envelopes, to_json(c.sizes) AS sizes,
         CAST(array_to_json(c.addresses, true) AS text) AS addresses, c.destinations,
         to_json(ARRAY(
           SELECT message_id(r.run_number, r.message_key, request)
           FROM generate_series(c.first_request, c.last_request) AS request
         )) AS message_ids,
         to_json(ARRAY(
           SELECT q.request
           FROM requests q
           WHERE q.run_id = c.run_id AND q.request BETWEEN c.first_request AND c.last_request
         )) AS with_rows,
         to_json(CASE WHEN r.has_suppressed OR r.has_hashed THEN ARRAY(
           SELECT DISTINCT c.first_request + n.request_offset
           FROM unnest(c.request_offsets, c.addresses) AS n (request_offset, address)
           WHERE (
             r.has_suppressed
             AND (
               SELECT true
               FROM suppressions
               WHERE channel = r.channel AND address = ${comparedAddress('n.address')}
                 AND account IN ('', r.suppression_account)
               LIMIT 1
             )
           ) OR (
             r.has_hashed
             AND (
               SELECT true
               FROM hashed_suppressions
               WHERE channel = r.channel
                 AND hash = ${hashedAddress('r.channel', comparedAddress('n.address'), '$4', '$5')}
                 AND account IN ('', r.suppression_account)
               LIMIT 1
             )
           )
         ) ELSE '{}' END) AS suppressed,
         CAST((SELECT epoch FROM suppression_epoch WHERE singleton) AS text) AS epoch, ${hashKeyMatches('$4', '$5')} AS key_fits
  FROM contents c
  CROSS JOIN (
    SELECT run_number, message_key, channel, coalesce(suppression_account, account) AS suppression_account,
           coalesce((SELECT true FROM suppressions s WHERE s.channel = runs.channel ORDER BY address LIMIT 1), false)
             AS has_suppressed,
           coalesce((SELECT true FROM hashed_suppressions s WHERE s.channel = runs.channel ORDER BY hash LIMIT 1), false)
             AS has_hashed
    FROM runs
    WHERE run_id = $1
    OFFSET 0 -- Evaluate once, not for each address.
  ) r
  WHERE c.run_id = $1 AND c.first_request <= $3
    AND c.first_request >= coalesce((
      SELECT max(first_request) FROM contents WHERE run_id = $1 AND first_request <= $2 + 1
    ), 0)
  ORDER BY c.first_request
  LIMIT $6
`;

type NumberedEnvelope = Envelope & { readonly envelope: number };

export async function readEnvelopes(
  pool: pg.Pool,
  run: string,
  numbers: readonly number[],
): Promise<readonly NumberedEnvelope[]> {
  const { rows } = await pool.query<NumberedEnvelope>({
    name: 'read-envelopes',
    text: `
    SELECT envelope, fields, keypads, files, audio
    FROM envelopes
    WHERE run_id = $1 AND envelope = ANY ($2::integer[])
    `,
    values: [run, numbers],
  });
  return rows;
}
