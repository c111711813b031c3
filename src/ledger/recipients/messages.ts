import type pg from 'pg';
import type { CampaignFile, Keypad, MessageFields } from '../../domain/message.ts';
import { comparedAddress } from '../compared-address.ts';
import { recipientsOf, requestOf } from '../request-rows.ts';
import { type RequestKey, requestKeys } from '../requests/by-message-id.ts';

/** What a request says to one recipient, as stored. All are empty after a purge. */
export type StoredMessage = RequestKey & {
  readonly fields: MessageFields;
  /** Destination fields other than Recipient. */
  readonly destination: MessageFields;
  readonly keypads: readonly Keypad[];
  readonly files: readonly CampaignFile[];
  /** Paths by audio field. */
  readonly audio: MessageFields;
};

/** Messages of these requests to an address, in the order of requests and positions. */
export async function listMessagesTo(
  pool: pg.Pool,
  address: string,
  requests: readonly RequestKey[],
): Promise<StoredMessage[]> {
  const { rows } = await pool.query<StoredMessage>(
    `
    SELECT r.run_id AS run, r.request, e.fields, e.keypads, e.files, e.audio,
           coalesce(CAST(k.destinations AS json) -> (r.position - 1), '{}') AS destination
    FROM (SELECT DISTINCT * FROM ${requestKeys.table('key', 2)}) AS wanted
    CROSS JOIN ${requestOf('wanted.run_id', 'wanted.request')} q
    JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    CROSS JOIN ${recipientsOf('wanted.run_id', 'wanted.request')} r
    LEFT JOIN LATERAL chunks_between(wanted.run_id, wanted.request, wanted.request) k ON true
    WHERE ${comparedAddress('r.address')} = ${comparedAddress('$1::text')}
    ORDER BY r.run_id, r.request, r.position
    `,
    [address, ...requestKeys.values(requests)],
  );
  return rows;
}
