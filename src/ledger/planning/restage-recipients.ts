import type pg from 'pg';
import type { RecipientState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { recipientStateOf } from '../counts/run-counts.ts';
import { streamRows } from '../cursor.ts';
import { inTransactionOf, type Transaction } from '../session.ts';
import type { ContactSource } from './stage-contacts.ts';
import { analyzeStagingTables, createStagingTables } from './staging-tables.ts';

const batchSize = 5_000;

/** Recipients of a run, by state, for a rerun. */
export type RecipientSelection = {
  readonly run: string;
  readonly states: readonly RecipientState[];
  /** Only the one of this row. */
  readonly row?: number | undefined;
};

/**
 * Stages recipients of an earlier run as they were planned. Recipients of an earlier rerun are rejected as
 * duplicates, so that a repeated command sends nothing twice.
 *
 * @param tariffOf index in the new run's rates; null: one tariff
 */
export async function restageRecipients(
  client: pg.ClientBase,
  { run, states, row }: RecipientSelection,
  recipientColumn: string,
  tariffOf: ContactSource['tariffOf'],
): Promise<void> {
  await createStagingTables(client);
  const requestStates = Object.entries(recipientStateOf).flatMap(([requestState, state]) =>
    states.includes(state) ? [requestState] : [],
  );
  await client.query(
    `
    WITH selected AS MATERIALIZED (
      SELECT r.line, q.envelope, r.parts, r.address, r.original_address,
             coalesce(CAST(r.destination AS text), '{}') AS destination
      FROM contents c
      CROSS JOIN LATERAL (
        -- A FULL JOIN is hashed or merged.
        SELECT r.*, o.outcome
        FROM ROWS FROM (
          unnest(c.request_offsets, c.positions, c.lines, c.addresses, c.original_addresses, c.parts),
          json_array_elements(CAST(c.destinations AS json))
        ) AS r (request_offset, position, line, address, original_address, parts, destination)
        FULL JOIN (
          SELECT request - c.first_request AS request_offset, position, outcome
          FROM recipient_outcomes_between(c.run_id, c.first_request, c.last_request)
        ) o ON o.request_offset = r.request_offset AND o.position = r.position
        OFFSET 0
      ) r
      JOIN LATERAL requests_between(c.run_id, c.first_request, c.last_request) q
        ON q.request = c.first_request + r.request_offset
      -- An empty address: the recipient is erased.
      WHERE c.run_id = $1 AND r.address <> '' AND ($5::integer IS NULL OR $5 = ANY (c.lines) AND r.line = $5)
        AND CASE WHEN r.outcome IS NULL THEN q.state = ANY ($2::text[]) ELSE r.outcome = ANY ($3::text[]) END
    ), sent_again AS MATERIALIZED (
      SELECT line, min(run_id) AS run
      FROM runs
      JOIN contents USING (run_id), unnest(lines) AS line
      WHERE source_run = $1
      GROUP BY line
    ), rejected AS (
      INSERT INTO staged_rejections (line, column_name, reason, kind, related_run)
      SELECT line, $4, 'duplicate', 'sent_again', run
      FROM selected
      JOIN sent_again USING (line)
    )
    INSERT INTO staged_contacts (line, envelope, parts, address, original_address, destination, key)
    SELECT line, envelope, parts, address, original_address, destination, key
    FROM selected
    LEFT JOIN (SELECT line, key FROM recipient_keys WHERE run_id = $1) k USING (line)
    WHERE NOT EXISTS (SELECT FROM sent_again s WHERE s.line = selected.line)
    `,
    [run, requestStates, states, recipientColumn, row ?? null],
  );
  await client.query(
    `
    INSERT INTO staged_envelopes (envelope, variant, sub_account, department, charge_code, zones, fields, other_fields)
    SELECT envelope, variant, sub_account, department, charge_code, array_to_string(w.zones, ','),
           -- Window fields are not the campaign's.
           CAST(CASE WHEN w.send_at IS NULL THEN fields ELSE fields - '{SendTime,TimeZone}'::text[] END AS text),
           CASE WHEN keypads <> '[]' OR files <> '[]' OR audio <> '{}' THEN
             CAST(jsonb_build_object('keypads', keypads, 'files', files, 'audio', audio) AS text)
           END
    FROM envelopes e
    LEFT JOIN run_windows w ON w.run_id = e.run_id AND w.window_index = e.window_index
    WHERE e.run_id = $1 AND envelope IN (SELECT envelope FROM staged_contacts)
    `,
    [run],
  );
  if (tariffOf) await inTransactionOf(client, (client) => stageTariffs(client, tariffOf));
  await analyzeStagingTables(client);
}

/** Assigns tariffs in line order, which decides their indexes. */
async function stageTariffs(client: Transaction, tariffOf: (address: string) => number): Promise<void> {
  await client.query(
    'CREATE TEMPORARY TABLE staged_tariffs (line integer NOT NULL, tariff smallint NOT NULL) ON COMMIT DROP',
  );
  const staged = { sql: 'SELECT line, address FROM staged_contacts ORDER BY line', values: [] };
  const tariffs = batchOf<StagedAddress>({
    line: ['integer', ({ line }) => line],
    tariff: ['smallint', ({ address }) => tariffOf(address)],
  });
  for await (const rows of streamRows<StagedAddress>(client, 'staged_addresses', staged, batchSize)) {
    await client.query(
      `INSERT INTO staged_tariffs SELECT * FROM ${tariffs.table('t')}`,
      tariffs.values(rows),
    );
  }
  await client.query('ANALYZE staged_contacts (line), staged_tariffs');
  await client.query(`
    UPDATE staged_contacts s
    SET tariff = t.tariff
    FROM staged_tariffs t
    WHERE t.line = s.line
  `);
}

type StagedAddress = { readonly line: number; readonly address: string };
