import type { Knex } from 'knex';

/**
 * Calls of the webhook that are committed together share a row, whose arrays Postgres compresses, and rows stand in
 * partitions, which retention drops.
 *
 * Processes of 0.3.0 go on with `inbox` and `inbox_queue`: their calls get numbers from the same sequence, and
 * `ledger/delivery-reports/former-inbox.ts` moves them into blocks. So a large inbox is not moved here.
 */
export async function up(knex: Knex): Promise<void> {
  await numberCalls(knex);
  await createBlocks(knex);
  await createQueue(knex);
  await createReaders(knex);
  await createEraser(knex);
  await createPartitions(knex);
  await leavePartitionsOut(knex);
}

/** The commit of a call waits for this lock, so the migration does not wait for it in front of others. */
async function numberCalls(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row has at most 256 calls, and the first 2^36 numbers are those of calls before this migration.
    CREATE SEQUENCE report_ids AS bigint START WITH 68719476736 INCREMENT BY 256;
    COMMENT ON SEQUENCE report_ids IS
      'Ids of calls, in order of arrival: each number is the id of the first call of a block.';
    DO $$
    BEGIN
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          LOCK TABLE inbox IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
    ALTER TABLE inbox ALTER COLUMN report_id DROP IDENTITY;
    ALTER TABLE inbox ALTER COLUMN report_id SET DEFAULT nextval('report_ids');
    COMMENT ON TABLE inbox IS
      'Calls that a process of Volley 0.3.0 received, a row for each, until they are moved into inbox_blocks. The view '
      'inbox_calls has all calls.';
    COMMENT ON TABLE inbox_queue IS
      'Calls of the table inbox that wait to be read, until they are moved into inbox_waiting.';
  `);
}

async function createBlocks(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE inbox_blocks (
      first_report      bigint PRIMARY KEY,
      calls             integer NOT NULL,
      bytes             integer NOT NULL,
      first_received_at timestamptz NOT NULL,
      last_received_at  timestamptz NOT NULL,
      offsets           integer[],
      accounts          text[] NOT NULL,
      received_at       timestamptz[] NOT NULL,
      methods           text[] NOT NULL CHECK (methods <@ ARRAY['POST', 'GET', 'LOOK-UP']),
      content_types     text[] NOT NULL,
      headers           json[] NOT NULL,
      bodies            bytea[] NOT NULL,
      CHECK (calls BETWEEN 1 AND 256)
    ) PARTITION BY RANGE (first_report);
    CREATE INDEX inbox_blocks_received ON inbox_blocks USING brin (last_received_at)
      WITH (pages_per_range = 32, autosummarize = on);
    COMMENT ON TABLE inbox_blocks IS
      'Calls of the webhook, and answers of status look-ups, as they came, so they can be read again at any time: a row '
      'for each commit, with the calls in arrays. A call with several delivery reports is replaced by a call for each '
      'when it is read; a purge erases calls. The view inbox_calls has a row for each call.';
    COMMENT ON COLUMN inbox_blocks.first_report IS 'The id of a call is this number plus its offset.';
    COMMENT ON COLUMN inbox_blocks.bytes IS 'Total size of the bodies.';
    COMMENT ON COLUMN inbox_blocks.offsets IS 'Of each call; null: 0, 1, 2 and so on.';
    COMMENT ON COLUMN inbox_blocks.accounts IS 'The account that received the call.';
    COMMENT ON COLUMN inbox_blocks.methods IS
      'POST, GET: the service called the webhook. LOOK-UP: Volley asked the service for the status.';
    COMMENT ON COLUMN inbox_blocks.headers IS 'Without credentials.';
    COMMENT ON COLUMN inbox_blocks.bodies IS 'Raw bytes; of a GET, the query string.';
  `);
}

async function createQueue(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE inbox_waiting (
      entry        bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      due_at       timestamptz NOT NULL,
      first_report bigint NOT NULL,
      last_report  bigint NOT NULL,
      report_ids   bigint[],
      calls        integer NOT NULL,
      bytes        bigint NOT NULL,
      attempts     integer NOT NULL DEFAULT 0,
      reread       boolean NOT NULL DEFAULT false
    );
    CREATE INDEX inbox_waiting_due ON inbox_waiting (due_at, entry);
    COMMENT ON TABLE inbox_waiting IS 'Calls that wait to be read.';
    COMMENT ON COLUMN inbox_waiting.due_at IS 'Not read before this time.';
    COMMENT ON COLUMN inbox_waiting.report_ids IS 'Ids, in order; null: all from first_report to last_report, of one block.';
    COMMENT ON COLUMN inbox_waiting.bytes IS 'Size of the bodies that have to be read, to limit batches.';
    COMMENT ON COLUMN inbox_waiting.attempts IS 'How often they were read without matching a request.';
    COMMENT ON COLUMN inbox_waiting.reread IS 'Whether they may have been read before.';

    CREATE VIEW waiting_reports AS
    SELECT unnest(coalesce(report_ids, ARRAY(SELECT generate_series(first_report, last_report)))) AS report_id
    FROM inbox_waiting
    UNION ALL
    SELECT unnest(report_ids) FROM inbox_queue;
    COMMENT ON VIEW waiting_reports IS 'Ids of the calls that wait to be read.';
  `);
}

async function createReaders(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION calls_in(b inbox_blocks)
    RETURNS TABLE (report_id bigint, account text, received_at timestamptz, method text, content_type text, headers json, body bytea)
    LANGUAGE sql IMMUTABLE AS $$
      SELECT b.first_report + coalesce(c.report_offset, c.place - 1), c.account, c.received_at, c.method, c.content_type,
             c.headers, c.body
      FROM unnest(b.offsets, b.accounts, b.received_at, b.methods, b.content_types, b.headers, b.bodies)
             WITH ORDINALITY AS c (report_offset, account, received_at, method, content_type, headers, body, place)
    $$;
    COMMENT ON FUNCTION calls_in IS 'The calls of a block.';

    CREATE VIEW inbox_calls AS
    SELECT report_id, account, received_at, method, content_type, headers, body FROM inbox
    UNION ALL
    SELECT c.report_id, c.account, c.received_at, c.method, c.content_type, c.headers, c.body
    FROM inbox_blocks b
    CROSS JOIN LATERAL calls_in(b) c;
    COMMENT ON VIEW inbox_calls IS
      'Every call of the webhook, its bytes as they came. To read some by id, use calls_of: this view reads all blocks.';

    CREATE FUNCTION block_of(report bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
      SELECT max(first_report) FROM inbox_blocks WHERE first_report <= report
    $$;
    COMMENT ON FUNCTION block_of IS 'The block in which a call is, if any has it: blocks do not overlap.';

    CREATE FUNCTION calls_of(reports bigint[]) RETURNS SETOF inbox_calls LANGUAGE sql STABLE AS $$
      SELECT report_id, account, received_at, method, content_type, headers, body
      FROM inbox
      WHERE report_id = ANY (reports)
      UNION ALL
      SELECT c.report_id, c.account, c.received_at, c.method, c.content_type, c.headers, c.body
      FROM (SELECT DISTINCT block_of(report) AS first_report FROM unnest(reports) AS report) w
      JOIN inbox_blocks b USING (first_report)
      CROSS JOIN LATERAL calls_in(b) c
      WHERE c.report_id IN (SELECT unnest(reports))
    $$;
    COMMENT ON FUNCTION calls_of IS 'The calls with these ids.';

    CREATE FUNCTION has_call(report bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
      SELECT EXISTS (SELECT FROM inbox WHERE report_id = report)
          OR EXISTS (
            SELECT
            FROM inbox_blocks b
            WHERE b.first_report = block_of(report)
              AND CASE WHEN b.offsets IS NULL THEN report < b.first_report + b.calls
                       ELSE report - b.first_report = ANY (b.offsets) END
          )
    $$;
    COMMENT ON FUNCTION has_call IS 'Whether the raw bytes of a delivery report are still there.';
  `);
}

/** The lock keeps others from moving the calls into another block meanwhile. */
async function createEraser(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION erase_calls(reports bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
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
        FROM (SELECT DISTINCT block_of(report) AS first_report FROM unnest(reports) AS report) w
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
    COMMENT ON FUNCTION erase_calls IS 'Erases the calls with these ids from their blocks. Returns how many there were.';
  `);
}

async function createPartitions(knex: Knex): Promise<void> {
  await knex.raw(`
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
    COMMENT ON VIEW inbox_partitions IS
      'Partitions of inbox_blocks. is_over: calls no longer get ids of it. last_received_at: of its last call; null: none.';

    CREATE FUNCTION add_inbox_partition(number bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      -- Attaching blocks no commit; creating it as a partition would.
      EXECUTE format('CREATE TABLE inbox_blocks_%s (LIKE inbox_blocks INCLUDING ALL)', number);
      EXECUTE format('ALTER TABLE inbox_blocks ATTACH PARTITION inbox_blocks_%s FOR VALUES FROM (%s) TO (%s)',
                     number, number << 36, (number + 1) << 36);
    END $$;

    CREATE FUNCTION tend_inbox_partitions(at timestamptz) RETURNS void LANGUAGE plpgsql
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
    COMMENT ON FUNCTION tend_inbox_partitions IS
      'Makes the next partition of inbox_blocks, and begins it in a new week. The sequence enters only a partition that is '
      'committed, so no call lacks one. It acts as the owner of the tables.';

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
    COMMENT ON FUNCTION drop_inbox_partition IS
      'Drops a partition of inbox_blocks that is over and has no call since that time. Returns how many calls it had; null: '
      'it stays, for example because calls of it wait. It acts as the owner of the tables.';

    SELECT add_inbox_partition(number) FROM generate_series(0, 2) AS number;
  `);
}

/** Partitions come and go, so the schema is compared without them. */
async function leavePartitionsOut(knex: Knex): Promise<void> {
  const { rows }: { rows: { definition: string }[] } = await knex.raw(
    `SELECT pg_get_viewdef('schema_objects'::regclass) AS definition`,
  );
  const definition = rows[0]?.definition ?? '';
  await knex.raw(
    `CREATE OR REPLACE VIEW schema_objects AS ${definition.replace('WHERE', 'WHERE NOT relispartition AND')}`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP FUNCTION drop_inbox_partition, tend_inbox_partitions, add_inbox_partition, erase_calls, has_call, calls_of;
    DROP VIEW inbox_partitions, inbox_calls, waiting_reports;
    DROP FUNCTION calls_in, block_of;
    DROP TABLE inbox_waiting, inbox_blocks;
    ALTER TABLE inbox ALTER COLUMN report_id DROP DEFAULT;
    DROP SEQUENCE report_ids;
    ALTER TABLE inbox ALTER COLUMN report_id ADD GENERATED ALWAYS AS IDENTITY;
    SELECT setval(pg_get_serial_sequence('inbox', 'report_id'), max(report_id)) FROM inbox;
  `);
}
