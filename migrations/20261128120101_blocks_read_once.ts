import type { Knex } from 'knex';

/**
 * Reads each block of calls once. A partition begins by its own clock, and its youngest call decides whether it is
 * dropped. The functions that act as the owner of the tables find no temporary table of their caller. Numbers at the
 * limits of 32 bits are read as they were stored.
 *
 * A ledger of 27 November 2026 may have this already (`otherTexts` in `ledger/fingerprint.ts`); then nothing changes.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION number_of(high smallint, low smallint) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST(high AS integer) * 65536 + (low + 32768);
    COMMENT ON COLUMN folded_outcomes.base_report IS 'What report_top, report_high and report_low count from.';

    CREATE OR REPLACE FUNCTION block_of(report bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
      -- The first condition selects its partition: with 121 of them, the others would take most of the time.
      SELECT max(first_report) FROM inbox_blocks WHERE first_report >= report >> 36 << 36 AND first_report <= report
    $$;

    CREATE OR REPLACE FUNCTION blocks_of(reports bigint[]) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
      SELECT DISTINCT block_of(number)
      FROM (
        -- From 2^36 on, a block begins at a multiple of 256.
        SELECT DISTINCT CASE WHEN report >= 68719476736 THEN report >> 8 << 8 ELSE report END AS number
        FROM unnest(reports) AS report
      ) n
    $$;
    COMMENT ON FUNCTION blocks_of IS 'The blocks in which these calls are.';
  `);
  await readBlocks(knex, 'blocks_of(reports) w (first_report)');
  await knex.raw(`
    DO $$
    BEGIN
      IF EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = 'inbox_partitions'::regclass AND attname = 'last_received_at'
      ) THEN
        DROP FUNCTION drop_inbox_partition;
        DROP VIEW inbox_partitions;
      END IF;
    END $$;

    CREATE OR REPLACE VIEW inbox_partitions AS
    SELECT p.name, p.number << 36 AS first_report, ((p.number + 1) << 36) - 1 AS last_report,
           p.number < (SELECT last_value >> 36 FROM report_ids) AS is_over
    FROM (
      SELECT c.relname::text AS name, CAST(substring(c.relname FROM '[0-9]+$') AS bigint) AS number
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'inbox_blocks'::regclass AND NOT i.inhdetachpending
    ) p;
    COMMENT ON VIEW inbox_partitions IS
      'Partitions of inbox_blocks. is_over: calls no longer get ids of it.';

    CREATE TABLE IF NOT EXISTS inbox_week (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      begun_at  timestamptz NOT NULL
    );
    COMMENT ON TABLE inbox_week IS
      'When the present partition of inbox_blocks began. Its calls do not tell: an old call gets a new id when it is '
      'divided, or comes from another cell.';

    CREATE OR REPLACE FUNCTION tend_inbox_partitions(at timestamptz) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER AS $$
    DECLARE
      present bigint;
      begun timestamptz;
    BEGIN
      IF NOT has_table_privilege(session_user, 'inbox_blocks', 'INSERT')
         OR NOT pg_try_advisory_xact_lock(hashtextextended('volley inbox partitions', 0)) THEN
        RETURN;
      END IF;
      SELECT last_value >> 36 INTO present FROM report_ids;
      IF NOT EXISTS (SELECT FROM inbox_partitions WHERE first_report = (present + 1) << 36) THEN
        PERFORM add_inbox_partition(present + 1);
        RETURN;
      END IF;
      SELECT begun_at INTO begun FROM inbox_week;
      IF begun IS NULL THEN
        INSERT INTO inbox_week (begun_at) VALUES (at);
      ELSIF date_trunc('week', begun, 'UTC') < date_trunc('week', at, 'UTC') THEN
        UPDATE inbox_week SET begun_at = at;
        PERFORM setval('report_ids', (present + 1) << 36, false);
        PERFORM add_inbox_partition(present + 2);
      END IF;
    END $$;
    COMMENT ON FUNCTION tend_inbox_partitions IS
      'Makes the next partition of inbox_blocks, and begins it in a new week. The sequence enters only a partition that is '
      'committed, so no call lacks one. It acts as the owner of the tables.';

    CREATE OR REPLACE FUNCTION drop_inbox_partition(dropped text, before timestamptz) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET lock_timeout = '200ms' AS $$
    DECLARE
      found record;
      partition regclass;
    BEGIN
      IF NOT has_table_privilege(session_user, 'inbox_blocks', 'DELETE') THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for table inbox_blocks';
      END IF;
      SELECT * INTO found FROM inbox_partitions WHERE name = dropped AND is_over;
      IF found.name IS NULL OR EXISTS (
        SELECT
        FROM inbox_blocks
        WHERE first_report BETWEEN found.first_report AND found.last_report AND last_received_at >= before
      ) THEN
        RETURN false;
      END IF;
      LOCK TABLE ONLY inbox_blocks IN ACCESS EXCLUSIVE MODE;
      -- What others queued before they released the table is visible now.
      IF EXISTS (SELECT FROM inbox_waiting w WHERE w.first_report <= found.last_report AND w.last_report >= found.first_report)
         -- They may belong into it.
         OR EXISTS (SELECT FROM inbox) THEN
        RETURN false;
      END IF;
      SELECT c.oid INTO partition
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'inbox_blocks'::regclass AND c.relname = found.name;
      IF partition IS NULL THEN
        RETURN false;
      END IF;
      EXECUTE format('DROP TABLE %s', partition);
      RETURN true;
    END $$;
    COMMENT ON FUNCTION drop_inbox_partition IS
      'Drops a partition of inbox_blocks that is over and has no call since that time. False: it stays, for example because '
      'calls of it wait. It acts as the owner of the tables.';

    -- Of the caller's temporary tables, which are searched first unless they are named, none may stand for one of these.
    DO $$
    BEGIN
      EXECUTE format('ALTER FUNCTION tend_inbox_partitions SET search_path = %I, pg_temp', current_schema());
      EXECUTE format('ALTER FUNCTION drop_inbox_partition SET search_path = %I, pg_temp', current_schema());
    END $$;
  `);
}

/** @param blocks SQL: the first report of each block that has one of `reports` */
async function readBlocks(knex: Knex, blocks: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION calls_of(reports bigint[]) RETURNS SETOF inbox_calls LANGUAGE sql STABLE AS $$
      SELECT report_id, account, received_at, method, content_type, headers, body
      FROM inbox
      WHERE report_id = ANY (reports)
      UNION ALL
      SELECT c.report_id, c.account, c.received_at, c.method, c.content_type, c.headers, c.body
      FROM ${blocks}
      JOIN inbox_blocks b USING (first_report)
      CROSS JOIN LATERAL calls_in(b) c
      WHERE c.report_id IN (SELECT unnest(reports))
    $$;

    CREATE OR REPLACE FUNCTION erase_calls(reports bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      former bigint;
      erased bigint;
    BEGIN
      -- A comparison with NULL would hide calls that stay.
      reports := array_remove(reports, NULL);
      IF coalesce(cardinality(reports), 0) = 0 THEN
        RETURN 0;
      END IF;
      PERFORM pg_advisory_xact_lock(hashtextextended('volley inbox blocks', 0));
      DELETE FROM inbox WHERE report_id IN (SELECT unnest(reports));
      GET DIAGNOSTICS former = ROW_COUNT;
      WITH call AS MATERIALIZED (
        SELECT b.first_report, c.*, c.report_id IN (SELECT unnest(reports)) AS goes
        FROM ${blocks}
        JOIN inbox_blocks b USING (first_report)
        CROSS JOIN LATERAL calls_in(b) c
      ), kept AS (
        SELECT first_report, count(*) AS calls, sum(octet_length(body)) AS bytes,
               array_agg(report_id - first_report ORDER BY report_id) AS offsets,
               array_agg(account ORDER BY report_id) AS accounts,
               array_agg(received_at ORDER BY report_id) AS received_at,
               array_agg(method ORDER BY report_id) AS methods,
               array_agg(content_type ORDER BY report_id) AS content_types,
               array_agg(headers ORDER BY report_id) AS headers,
               array_agg(body ORDER BY report_id) AS bodies
        FROM call c
        WHERE NOT goes AND EXISTS (SELECT FROM call g WHERE g.goes AND g.first_report = c.first_report)
        GROUP BY first_report
      ), emptied AS (
        DELETE FROM inbox_blocks b
        USING (SELECT first_report FROM call GROUP BY first_report HAVING bool_and(goes)) e
        WHERE b.first_report = e.first_report
      ), rewritten AS (
        UPDATE inbox_blocks b
        SET calls = k.calls, bytes = k.bytes, offsets = k.offsets, accounts = k.accounts, received_at = k.received_at,
            methods = k.methods, content_types = k.content_types, headers = k.headers, bodies = k.bodies
        FROM kept k
        WHERE b.first_report = k.first_report
      )
      SELECT count(*) INTO erased FROM call WHERE goes;
      RETURN former + erased;
    END $$;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await readBlocks(
    knex,
    '(SELECT DISTINCT block_of(report) AS first_report FROM unnest(reports) AS report) w',
  );
  await knex.raw(`
    DROP FUNCTION blocks_of;
    CREATE OR REPLACE FUNCTION block_of(report bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
      SELECT max(first_report) FROM inbox_blocks WHERE first_report <= report
    $$;

    CREATE OR REPLACE FUNCTION number_of(high smallint, low smallint) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST(high AS integer) * 65536 + low + 32768;

    DROP FUNCTION drop_inbox_partition;
    DROP VIEW inbox_partitions;
    DROP TABLE inbox_week;
    CREATE VIEW inbox_partitions AS
    SELECT p.name, p.number << 36 AS first_report, ((p.number + 1) << 36) - 1 AS last_report,
           p.number < (SELECT last_value >> 36 FROM report_ids) AS is_over,
           (
             SELECT last_received_at
             FROM inbox_blocks b
             WHERE b.first_report BETWEEN p.number << 36 AND ((p.number + 1) << 36) - 1
             ORDER BY b.first_report DESC
             LIMIT 1
           ) AS last_received_at
    FROM (
      SELECT c.relname::text AS name, CAST(substring(c.relname FROM '[0-9]+$') AS bigint) AS number
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'inbox_blocks'::regclass AND NOT i.inhdetachpending
    ) p;

    CREATE OR REPLACE FUNCTION tend_inbox_partitions(at timestamptz) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE
      present bigint;
      begun timestamptz;
    BEGIN
      IF NOT has_table_privilege(session_user, 'inbox_blocks', 'INSERT')
         OR NOT pg_try_advisory_xact_lock(hashtextextended('volley inbox partitions', 0)) THEN
        RETURN;
      END IF;
      SELECT last_value >> 36 INTO present FROM report_ids;
      IF NOT EXISTS (SELECT FROM inbox_partitions WHERE first_report = (present + 1) << 36) THEN
        PERFORM add_inbox_partition(present + 1);
        RETURN;
      END IF;
      SELECT first_received_at INTO begun
      FROM inbox_blocks
      WHERE first_report >= present << 36
      ORDER BY first_report
      LIMIT 1;
      IF date_trunc('week', begun, 'UTC') < date_trunc('week', at, 'UTC') THEN
        PERFORM setval('report_ids', (present + 1) << 36, false);
        PERFORM add_inbox_partition(present + 2);
      END IF;
    END $$;

    CREATE FUNCTION drop_inbox_partition(dropped text, before timestamptz) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
    DECLARE
      found record;
      number_of_calls bigint;
    BEGIN
      IF NOT has_table_privilege(session_user, 'inbox_blocks', 'DELETE') THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for table inbox_blocks';
      END IF;
      SELECT * INTO found
      FROM inbox_partitions
      WHERE name = dropped AND is_over AND coalesce(last_received_at < before, true);
      IF found.name IS NULL THEN
        RETURN NULL;
      END IF;
      SELECT coalesce(sum(calls), 0) INTO number_of_calls
      FROM inbox_blocks
      WHERE first_report BETWEEN found.first_report AND found.last_report;
      LOCK TABLE ONLY inbox_blocks IN ACCESS EXCLUSIVE MODE;
      -- What others queued before they released the table is visible now.
      IF EXISTS (SELECT FROM inbox_waiting w WHERE w.first_report <= found.last_report AND w.last_report >= found.first_report)
         -- They may belong into it.
         OR EXISTS (SELECT FROM inbox) THEN
        RETURN NULL;
      END IF;
      EXECUTE format('DROP TABLE %I', found.name);
      RETURN number_of_calls;
    END $$;
  `);
}
