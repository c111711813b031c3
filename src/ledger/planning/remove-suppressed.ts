import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import { comparedAddress } from '../compared-address.ts';
import { copyIn, copyValue } from '../copy.ts';
import type { Transaction } from '../session.ts';
import { type HashKey, hashedAddress, requireHashKey } from '../suppressions/hash.ts';
import type { PlanRules } from './planned-run.ts';

/** An address of a campaign's own list, suppressed for a SubAccount; empty: for all. */
export type OwnSuppression = {
  readonly address: string;
  readonly subAccount: string;
  readonly file: string;
  readonly line: number;
};

/** SQL: a staged contact's address for comparison. Phone numbers have no case. */
export function stagedAddress(channel: Channel): string {
  return channel === 'email' ? comparedAddress('s.address') : 's.address';
}

/** Copies addresses of a campaign's own lists to a temporary table, in constant memory. */
export async function stageSuppressions(
  client: pg.ClientBase,
  batches: AsyncIterable<readonly OwnSuppression[]>,
): Promise<void> {
  async function* lines(): AsyncGenerator<string, void, undefined> {
    for await (const batch of batches) {
      yield batch
        .map(
          ({ address, subAccount, file, line }) =>
            `${copyValue(address)}\t${copyValue(subAccount)}\t${copyValue(file)}\t${line}\n`,
        )
        .join('');
    }
  }
  await copyIn(client, 'staged_suppressions (address, sub_account, file, line)', lines());
  await client.query('ANALYZE staged_suppressions');
}

/** Removes contacts that are in the campaign's own lists. */
export async function removeListed(
  client: Transaction,
  { recipientColumn, channel }: PlanRules,
): Promise<void> {
  const found = `
    SELECT s.ctid AS row, s.line, s.envelope, x.address, x.sub_account, 'listed' AS kind, NULL AS message,
           NULL AS related_run, NULL AS source, x.file, x.line::bigint AS number, 0 AS priority, x.list_index
    FROM staged_suppressions x
    JOIN staged_contacts s ON ${stagedAddress(channel)} = x.address
  `;
  await removeFound(client, found, [recipientColumn]);
}

/**
 * Removes contacts that the ledger suppresses, before duplicates are searched.
 *
 * @param key key of hashed suppressions
 * @throws InputError when suppressions are hashed with another key
 */
export async function removeSuppressed(
  client: Transaction,
  rules: PlanRules,
  key: HashKey | null,
): Promise<void> {
  const { recipientColumn, channel, account, suppressionAccount = account } = rules;
  const address = stagedAddress(channel);
  const found = `
    -- Joined separately: without statistics of a union, the planner would hash the contacts, which are more.
    SELECT s.ctid AS row, s.line, s.envelope, x.address, x.sub_account, 'suppressed_address' AS kind, x.reason AS message,
           x.run_id AS related_run, x.source, NULL AS file, NULL::bigint AS number, 1 AS priority, 0 AS list_index
    FROM suppressions x
    JOIN staged_contacts s ON ${address} = x.address
    WHERE x.channel = $4 AND x.account IN ('', $5)
    UNION ALL
    SELECT s.ctid, s.line, s.envelope, ${address}, h.sub_account, 'suppressed_hash', NULL, NULL, NULL,
           NULL, NULL, 1, 1
    FROM staged_contacts s
    JOIN hashed_suppressions h
      ON h.channel = '${channel}' AND h.account IN ('', $5) AND h.hash = ${hashedAddress(`'${channel}'`, address, '$2', '$3')}
    WHERE EXISTS (SELECT FROM hashed_suppressions)
  `;
  await removeFound(client, found, [
    recipientColumn,
    key?.inner ?? null,
    key?.outer ?? null,
    channel,
    suppressionAccount,
  ]);
  // Accounts can share suppressions: the run of another one, and the reply to it, are not theirs.
  await client.query(
    `
    UPDATE left_out l
    SET related_run = NULL, message = ''
    FROM runs r
    WHERE l.kind = 'suppressed_address' AND r.run_id = l.related_run AND r.account <> $1
    `,
    [account],
  );
  await requireHashKey(client, key);
}

/** @param found SQL of contacts with their reasons, of which the one with the lowest priority counts */
async function removeFound(client: Transaction, found: string, values: readonly unknown[]): Promise<void> {
  await client.query(
    `
    WITH found AS MATERIALIZED (${found}), suppressed AS MATERIALIZED (
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
    [...values],
  );
}
