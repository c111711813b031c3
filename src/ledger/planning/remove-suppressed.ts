import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Channel } from '../../domain/message.ts';
import type { SuppressedReason } from '../../domain/reasons.ts';
import { comparedAddress } from '../compared-address.ts';
import { copyValue } from '../copy.ts';
import { streamRows } from '../cursor.ts';
import { type Stored, suppressedReason } from '../reasons.ts';
import { everyRequest, recipientsOf } from '../request-rows.ts';
import { rejectionDetailOf } from '../runs/rejection-detail.ts';
import type { Transaction } from '../session.ts';
import { type HashKey, hashedAddress, requireHashKey } from '../suppressions/hash.ts';

/** An address suppressed for a SubAccount; empty: for all. */
export type SuppressedAddress = {
  readonly address: string;
  readonly subAccount: string;
  readonly detail: SuppressedReason;
};

/** An address of a campaign's own list. */
export type ListedAddress = SuppressedAddress & { readonly detail: { readonly kind: 'listed' } };

/** Excludes addresses of messages since then; `campaign` null: of any campaign. */
export type FrequencyCap = { readonly since: Date; readonly campaign: string | null } & {
  /** The period, from `since` to now. */
  readonly milliseconds: number;
};

/** SQL: a staged contact's address for comparison. Phone numbers have no case. */
export function stagedAddress(channel: Channel): string {
  return channel === 'email' ? comparedAddress('s.address') : 's.address';
}

function channelLiteral(channel: Channel): string {
  return `'${channel}'`;
}

/** Copies addresses of a campaign's own lists to a temporary table, in constant memory. */
export async function stageSuppressions(
  client: pg.ClientBase,
  batches: AsyncIterable<readonly ListedAddress[]>,
): Promise<void> {
  async function* lines(): AsyncGenerator<string, void, undefined> {
    for await (const batch of batches) {
      yield batch
        .map(
          ({ address, subAccount, detail }) =>
            `${copyValue(address)}\t${copyValue(subAccount)}\t${copyValue(detail.file)}\t${detail.line}\n`,
        )
        .join('');
    }
  }
  await pipeline(
    Readable.from(lines()),
    client.query(copyFrom('COPY staged_suppressions (address, sub_account, file, line) FROM STDIN')),
  );
  await client.query('ANALYZE staged_suppressions');
}

/**
 * SQL of suppressed and recently used addresses: `address`, the reason (`rejectionDetailColumns`), `priority`,
 * `list_index`. A message that may have been accepted counts.
 *
 * @param account whose suppressions apply, besides global ones
 * @param first number of its first parameter
 */
function suppressedAddresses(
  channel: Channel,
  account: string,
  cap: FrequencyCap | undefined,
  first: number,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const parameter = (offset: number): string => `$${first + offset}`;
  const suppressed = `
    SELECT address, sub_account,
           'suppressed_address' AS kind, reason AS message, run_id AS related_run, source, NULL AS file, NULL::bigint AS number,
           1 AS priority, 0 AS list_index
    FROM suppressions
    WHERE channel = ${parameter(0)} AND account IN ('', ${parameter(1)})
  `;
  if (!cap) return { sql: suppressed, values: [channel, account] };
  const sent = `
    SELECT ${comparedAddress('address')} AS address, '' AS sub_account,
           'sent_recently' AS kind, NULL AS message, max(run_id) FILTER (WHERE account = ${parameter(1)}) AS related_run,
           NULL AS source, NULL AS file, ${parameter(2)}::bigint AS number,
           2 AS priority, 0 AS list_index
    FROM (
      SELECT r.run_id, r.account, a.address, o.outcome
      FROM runs r
      JOIN LATERAL requests_between(r.run_id, ${everyRequest}) q ON true
      CROSS JOIN ${recipientsOf('r.run_id', 'q.request')} a
      LEFT JOIN recipient_outcomes o
        ON o.run_id = r.run_id AND o.request = a.request AND o.position = a.position
      WHERE r.channel = ${parameter(0)} AND r.kind = 'ordinary' AND (${parameter(3)}::text IS NULL OR r.campaign = ${parameter(3)})
        AND (r.finished_at IS NULL OR r.finished_at >= ${parameter(4)})
        AND q.state IN ('accepted', 'sending', 'in_doubt') AND q.updated_at >= ${parameter(4)}
    ) AS recent
    WHERE outcome IS DISTINCT FROM 'cancelled' AND address IS NOT NULL
    GROUP BY 1
  `;
  return {
    sql: `${suppressed} UNION ALL ${sent}`,
    values: [channel, account, cap.milliseconds, cap.campaign, cap.since],
  };
}

/**
 * Addresses that a run planned now would exclude, without the campaign's own lists; the stronger reason first.
 *
 * @param account whose suppressions apply, besides global ones
 */
export async function* streamSuppressedAddresses(
  client: Transaction,
  channel: Channel,
  account: string,
  cap: FrequencyCap | undefined,
): AsyncGenerator<readonly (SuppressedAddress & { readonly recent: boolean })[], void, undefined> {
  const { sql, values } = suppressedAddresses(channel, account, cap, 1);
  const ordered = `
    SELECT address, sub_account AS "subAccount", ${rejectionDetailOf('x', '$1::text', 'NULL')} AS detail,
           priority > 1 AS recent
    FROM (SELECT *, NULL::boolean AS differs FROM (${sql}) AS each) AS x
    ORDER BY priority, address, sub_account COLLATE "C"
  `;
  type Row = Stored<SuppressedAddress, 'detail'> & { readonly recent: boolean };
  for await (const rows of streamRows<Row>(client, 'left_out', { sql: ordered, values }, 5_000))
    yield rows.map((row) => ({ ...row, detail: suppressedReason(row.detail) }));
}

type RunToSuppressIn = {
  readonly recipientColumn: string;
  readonly channel: Channel;
  readonly account: string;
  /** By default its own. */
  readonly suppressionAccount?: string | undefined;
  readonly frequencyCap: FrequencyCap | undefined;
};

/**
 * Removes suppressed contacts before duplicates are searched.
 *
 * @param key key of hashed suppressions
 * @throws InputError when suppressions are hashed with another key
 */
export async function removeSuppressed(
  client: Transaction,
  run: RunToSuppressIn,
  key: HashKey | null,
): Promise<void> {
  const { recipientColumn, channel, account, suppressionAccount = account, frequencyCap } = run;
  const { sql, values } = suppressedAddresses(channel, suppressionAccount, frequencyCap, 4);
  const address = stagedAddress(channel);
  await client.query(
    `
    WITH found AS MATERIALIZED (
      -- Joined separately: without statistics of a union, the planner would hash the contacts, which are more.
      SELECT s.ctid AS row, s.line, s.envelope, x.*
      FROM (${sql}) x
      JOIN staged_contacts s ON ${address} = x.address
      UNION ALL
      SELECT s.ctid, s.line, s.envelope, x.address, x.sub_account, 'listed', NULL, NULL, NULL, x.file,
             x.line, 0, x.list_index
      FROM staged_suppressions x
      JOIN staged_contacts s ON ${address} = x.address
      UNION ALL
      SELECT s.ctid, s.line, s.envelope, ${address}, h.sub_account, 'suppressed_hash', NULL, NULL, NULL,
             NULL, NULL, 1, 1
      FROM staged_contacts s
      JOIN hashed_suppressions h
        ON h.channel = ${channelLiteral(channel)} AND h.account IN ('', $5) AND h.hash = ${hashedAddress(channelLiteral(channel), address, '$2', '$3')}
      WHERE EXISTS (SELECT FROM hashed_suppressions)
    ), suppressed AS MATERIALIZED (
      SELECT DISTINCT ON (line) *
      FROM (
        -- Most apply to all SubAccounts. Joined with envelopes, which the planner underestimated, they cost 0.7 s for
        -- a million contacts.
        SELECT * FROM found WHERE sub_account = ''
        UNION ALL
        SELECT f.*
        FROM found f
        JOIN staged_envelopes e USING (envelope)
        WHERE f.sub_account = e.sub_account
      ) x
      ORDER BY line, priority, list_index, sub_account COLLATE "C"
    ), taken_out AS (
      DELETE FROM staged_contacts WHERE ctid = ANY (ARRAY(SELECT row FROM suppressed))
    )
    INSERT INTO left_out (line, column_name, reason, kind, message, related_run, sub_account, source, file, number)
    SELECT line, $1, 'suppressed', kind, message, related_run, sub_account, source, file, number
    FROM suppressed
    `,
    [recipientColumn, key?.inner ?? null, key?.outer ?? null, ...values],
  );
  await requireHashKey(client, key);
}
