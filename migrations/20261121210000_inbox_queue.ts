import type { Knex } from 'knex';

/**
 * The queue of the inbox has a row for what was committed together, not one for each report; and nothing looks reports up
 * by their address.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE inbox_queue RENAME TO inbox_queue_of_reports;
    ALTER INDEX inbox_queue_pkey RENAME TO inbox_queue_of_reports_pkey;
    ALTER INDEX inbox_queue_due RENAME TO inbox_queue_of_reports_due;

    CREATE TABLE inbox_queue (
      entry      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      due_at     timestamptz NOT NULL,
      report_ids bigint[] NOT NULL,
      -- Of all bodies, so that no batch is too large.
      bytes      bigint NOT NULL,
      -- How often they were read and matched nothing.
      tries      integer NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at, entry);

    INSERT INTO inbox_queue (due_at, report_ids, bytes, tries)
    SELECT due_at, ARRAY[report_id], bytes, tries FROM inbox_queue_of_reports ORDER BY due_at, report_id;
    DROP TABLE inbox_queue_of_reports;

    DROP INDEX reports_by_address;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE inbox_queue RENAME TO inbox_queue_of_batches;
    ALTER INDEX inbox_queue_pkey RENAME TO inbox_queue_of_batches_pkey;
    ALTER INDEX inbox_queue_due RENAME TO inbox_queue_of_batches_due;

    CREATE TABLE inbox_queue (
      report_id bigint PRIMARY KEY,
      due_at    timestamptz NOT NULL,
      bytes     integer NOT NULL,
      tries     integer NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at);

    INSERT INTO inbox_queue (report_id, due_at, bytes, tries)
    SELECT DISTINCT ON (report_id) report_id, due_at, octet_length(body), tries
    FROM inbox_queue_of_batches, unnest(report_ids) report_id
    JOIN inbox USING (report_id)
    ORDER BY report_id, due_at;
    DROP TABLE inbox_queue_of_batches;

    CREATE INDEX reports_by_address ON reports (address, report_id) WHERE address IS NOT NULL;
  `);
}
