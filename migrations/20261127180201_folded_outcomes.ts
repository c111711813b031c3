import type { Knex } from 'knex';

/**
 * Reported recipients of neighbouring requests share a row, a block: a row each takes 200 bytes, and an element of
 * arrays 10 to 25. `ledger/delivery-reports/fold-outcomes.ts` folds rows of recipient_outcomes into blocks.
 *
 * Nothing is rewritten here, and recipient_outcomes keeps its name: Volley 0.3.0 writes it. Everything that reads
 * outcomes reads both.
 */
export async function up(knex: Knex): Promise<void> {
  await createBlocks(knex);
  await createFunctions(knex);
  await createReports(knex);
  await countOutcomes(knex, unlessMoved, unlessFolded);
  await createStates(knex);
  await createPositionOf(
    knex,
    'recipient_outcomes_between(position_of.run, position_of.request, position_of.request)',
  );
  await createRecounts(knex, 'all_recipient_outcomes');
}

/** What is known of a recipient's outcome, in the order of recipient_outcomes. */
const columns = [
  'run_id',
  'request',
  'position',
  'outcome',
  'result',
  'units',
  'price',
  'reported_at',
  'report_id',
  'status',
  'job_number',
  'sent_at',
];
const from = (row: string): string => columns.map((column) => `${row}.${column}`).join(', ');

/** Two tables, so that a purge deletes rows and rewrites none. */
async function createBlocks(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE folded_outcomes (
      run_id          text NOT NULL,
      first_request   integer NOT NULL,
      last_request    integer NOT NULL,
      base_at         timestamptz NOT NULL,
      base_report     bigint NOT NULL,
      reports         int8multirange NOT NULL,
      outcomes        text[] NOT NULL,
      units           numeric[] NOT NULL,
      prices          numeric[] NOT NULL,
      stride          smallint NOT NULL,
      places          int4multirange NOT NULL,
      kinds           smallint[] NOT NULL,
      report_top      smallint[] NOT NULL,
      report_high     smallint[] NOT NULL,
      report_low      smallint[] NOT NULL,
      reported_high   smallint[] NOT NULL,
      reported_low    smallint[] NOT NULL,
      PRIMARY KEY (run_id, first_request),
      CHECK (cardinality(units) = cardinality(outcomes) AND cardinality(prices) = cardinality(outcomes)),
      CHECK (cardinality(report_top) = cardinality(kinds) AND cardinality(report_high) = cardinality(kinds)
         AND cardinality(report_low) = cardinality(kinds) AND cardinality(reported_high) = cardinality(kinds) AND cardinality(reported_low) = cardinality(kinds))
    ) WITH (toast_tuple_target = 256);
    -- For reports that are read again: an entry for a block, not for a recipient.
    CREATE INDEX folded_outcomes_reports ON folded_outcomes USING gist (reports);
    COMMENT ON TABLE folded_outcomes IS
      'Outcomes of reported recipients that were folded. Each row is a block: it holds those of neighbouring requests '
      'of one slice, ordered by request and position. Blocks do not overlap. A recipient is in a block or in '
      'recipient_outcomes, never in both.';
    COMMENT ON COLUMN folded_outcomes.last_request IS 'The last request that may be in it. Its blocks of contents end here.';
    COMMENT ON COLUMN folded_outcomes.base_at IS 'What the times of the block count from.';
    COMMENT ON COLUMN folded_outcomes.base_report IS 'What report_offsets count from.';
    COMMENT ON COLUMN folded_outcomes.reports IS
      'Ranges with the ids of its delivery reports. Each begins and ends at a multiple of 262,144.';
    COMMENT ON COLUMN folded_outcomes.outcomes IS
      'With units and prices: the different outcomes, which kinds refers to. As in recipient_outcomes.';
    COMMENT ON COLUMN folded_outcomes.stride IS 'The highest position of a recipient.';
    COMMENT ON COLUMN folded_outcomes.places IS
      'Its recipients, in ranges: (request - first_request) * stride + position - 1 of each. The arrays below are in '
      'this order.';
    COMMENT ON COLUMN folded_outcomes.kinds IS
      'Of each recipient, the index of its outcome, units and price in the arrays of these, from 1.';
    COMMENT ON COLUMN folded_outcomes.report_top IS
      'With report_high and report_low: the id of the delivery report that decided, minus base_report. '
      'Postgres compresses the upper bits of neighbours, which are nearly equal (high_half).';
    COMMENT ON COLUMN folded_outcomes.reported_high IS 'With reported_low: when that came, in milliseconds since base_at.';

    CREATE TABLE folded_reports (
      run_id        text NOT NULL,
      first_request integer NOT NULL,
      results       text[] NOT NULL,
      statuses      text[] NOT NULL,
      words         smallint[] NOT NULL,
      job_numbers   text,
      sent_high     smallint[],
      sent_low      smallint[],
      PRIMARY KEY (run_id, first_request),
      CHECK (cardinality(statuses) = cardinality(results)),
      CHECK (cardinality(sent_high) = cardinality(words) AND cardinality(sent_low) = cardinality(words))
    ) WITH (toast_tuple_target = 256);
    -- Compressed in the row, not beside it.
    ALTER TABLE folded_outcomes
      ALTER COLUMN kinds SET STORAGE MAIN, ALTER COLUMN report_top SET STORAGE MAIN,
      ALTER COLUMN report_high SET STORAGE MAIN,
      ALTER COLUMN report_low SET STORAGE MAIN, ALTER COLUMN reported_high SET STORAGE MAIN,
      ALTER COLUMN reported_low SET STORAGE MAIN;
    ALTER TABLE folded_reports
      ALTER COLUMN words SET STORAGE MAIN, ALTER COLUMN sent_high SET STORAGE MAIN, ALTER COLUMN sent_low SET STORAGE MAIN;
    COMMENT ON TABLE folded_reports IS
      'What the service said of the recipients in a block of folded_outcomes, in the same order. A purge deletes it.';
    COMMENT ON COLUMN folded_reports.results IS
      'With statuses: the different words, which words refers to. As in recipient_outcomes.';
    COMMENT ON COLUMN folded_reports.words IS 'The index of its words in the arrays of these, from 1.';
    COMMENT ON COLUMN folded_reports.job_numbers IS 'As in recipient_outcomes, with tabs between them; null: none has one.';
    COMMENT ON COLUMN folded_reports.sent_high IS
      'With sent_low: when the service sent the message, in milliseconds since base_at. Null: no report says it.';
  `);
}

async function createFunctions(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION number_of(high smallint, low smallint) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST(high AS integer) * 65536 + low + 32768;
    COMMENT ON FUNCTION number_of IS 'The number of which high_half and low_half are these.';

    CREATE FUNCTION high_half(number bigint) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST(number >> 16 AS smallint);
    COMMENT ON FUNCTION high_half IS 'The upper 16 bits of a number of 32 bits, with its sign.';

    CREATE FUNCTION low_half(number bigint) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST((number & 65535) - 32768 AS smallint);
    COMMENT ON FUNCTION low_half IS 'The lower 16 bits of a number, minus 32,768.';

    CREATE FUNCTION numbers_in(ranges int4multirange) RETURNS SETOF integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 250
    BEGIN ATOMIC
      SELECT generate_series(lower(r), upper(r) - 1) FROM unnest(ranges) AS r;
    END;
    COMMENT ON FUNCTION numbers_in IS 'Every number in the ranges, in order.';

    CREATE VIEW folded_recipients AS
    SELECT b.run_id, b.first_request, b.last_request, b.reports, b.first_request + e.place / b.stride AS request,
           e.place % b.stride + 1 AS position, b.outcomes[e.kind] AS outcome, w.results[e.words] AS result,
           b.units[e.kind] AS units, b.prices[e.kind] AS price,
           b.base_at + number_of(e.reported_high, e.reported_low) * interval '1 millisecond' AS reported_at,
           b.base_report + e.report_top * 4294967296 + number_of(e.report_high, e.report_low) AS report_id, w.statuses[e.words] AS status,
           e.job_number, b.base_at + number_of(e.sent_high, e.sent_low) * interval '1 millisecond' AS sent_at
    FROM folded_outcomes b
    LEFT JOIN folded_reports w ON w.run_id = b.run_id AND w.first_request = b.first_request
    CROSS JOIN LATERAL ROWS FROM (
      numbers_in(b.places),
      unnest(b.kinds, b.report_top, b.report_high, b.report_low, b.reported_high, b.reported_low, w.words,
             string_to_array(w.job_numbers, E'\\t', ''), w.sent_high, w.sent_low)
    ) AS e (place, kind, report_top, report_high, report_low, reported_high, reported_low, words, job_number, sent_high,
            sent_low);
    COMMENT ON VIEW folded_recipients IS 'One row for each recipient in a block, with its block.';

    CREATE VIEW all_recipient_outcomes AS
    SELECT ${from('o')} FROM recipient_outcomes o
    UNION ALL
    SELECT ${from('f')} FROM folded_recipients f;
    COMMENT ON VIEW all_recipient_outcomes IS 'Outcomes of single recipients, folded or not.';

    CREATE FUNCTION folded_by(decided bigint[]) RETURNS SETOF folded_recipients
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT f.*
      FROM (
        SELECT DISTINCT b.run_id, b.first_request
        FROM (SELECT DISTINCT report_id >> 18 << 18 AS first FROM unnest(decided) AS report_id) range
        CROSS JOIN LATERAL (SELECT * FROM folded_outcomes o WHERE o.reports @> range.first OFFSET 0) b
      ) c
      CROSS JOIN LATERAL (
        SELECT * FROM folded_recipients o WHERE o.run_id = c.run_id AND o.first_request = c.first_request OFFSET 0
      ) f
      JOIN (SELECT DISTINCT report_id FROM unnest(decided) AS report_id) d ON d.report_id = f.report_id;
    END;
    COMMENT ON FUNCTION folded_by IS 'Folded recipients whose outcomes these reports decided.';

    CREATE FUNCTION folded_block_of(run text, request integer) RETURNS SETOF folded_outcomes
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT *
      FROM (
        SELECT *
        FROM folded_outcomes f
        WHERE f.run_id = folded_block_of.run AND f.first_request <= folded_block_of.request
        ORDER BY f.first_request DESC
        LIMIT 1
      ) b
      WHERE b.last_request >= folded_block_of.request;
    END;
    COMMENT ON FUNCTION folded_block_of IS 'The block that may hold recipients of this request.';

    CREATE FUNCTION is_in_block(
      first_request integer, stride smallint, places int4multirange, request integer, "position" integer
    ) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN "position" BETWEEN 1 AND stride AND places @> (request - first_request) * stride + "position" - 1;
    COMMENT ON FUNCTION is_in_block IS 'Whether this recipient is in the block with these values.';

    CREATE FUNCTION recipient_outcomes_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, "position" integer, outcome text, result text, units numeric, price numeric,
      reported_at timestamptz, report_id bigint, status text, job_number text, sent_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT ${from('o')}
      FROM recipient_outcomes o
      WHERE o.run_id = run AND o.request BETWEEN first AND last
      UNION ALL
      SELECT ${from('f')}
      FROM folded_recipients f
      WHERE f.run_id = run AND f.request BETWEEN first AND last
        AND f.first_request BETWEEN coalesce((
          SELECT b.first_request
          FROM folded_outcomes b
          WHERE b.run_id = run AND b.first_request <= first
          ORDER BY b.first_request DESC
          LIMIT 1
        ), first) AND last
      OFFSET 0; -- a lookup for each row of the caller, as in contents_between
    END;
    COMMENT ON FUNCTION recipient_outcomes_between IS 'Outcomes of recipients in the range, folded or not.';

    CREATE FUNCTION recipient_results_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, "position" integer, line integer, address text, original_address text,
      parts smallint, tariff smallint, outcome text, result text, units numeric, price numeric, reported_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT p.*
      FROM (
        -- A FULL JOIN is hashed or merged. The planner cannot estimate the arrays, and would choose a nested loop.
        SELECT r.run_id, request, "position", r.line, r.address, r.original_address, r.parts, r.tariff, o.outcome,
               o.result, o.units, o.price, o.reported_at
        FROM (SELECT * FROM recipients_between(run, first, last)) r
        FULL JOIN (SELECT * FROM recipient_outcomes_between(run, first, last)) o USING (request, "position")
        OFFSET 0
      ) p
      WHERE p.run_id IS NOT NULL;
    END;
    COMMENT ON FUNCTION recipient_results_between IS
      'One row for each recipient in the range, with its own outcome, if known. For ranges of many recipients.';
  `);
}

/** SQL: the ordinary reports among outcomes `o`. */
const ordinary = (outcomes: string): string => `
    SELECT o.report_id, r.account, o.reported_at, 'applied', NULL, message_id(r.run_number, r.message_key, o.request),
           o.job_number,
           (
             SELECT p.address FROM recipients_between(o.run_id, o.request, o.request) p WHERE p.position = o.position
           ),
           o.status, o.result, o.outcome, o.sent_at, o.units, o.price, NULL, o.run_id, o.request, o.position
    FROM ${outcomes} o
    JOIN runs r ON r.run_id = o.run_id
    WHERE o.report_id IS NOT NULL AND NOT EXISTS (SELECT FROM unusual_delivery_reports u WHERE u.report_id = o.report_id)`;

const reportColumns = `report_id, account, received_at, state, detail, message_id, job_number, address, status, result,
           outcome, sent_at, units, price, text, run_id, request, position`;

/** SQL: a function that returns reports. */
const reportFunction = (signature: string, body: string): string => `
    CREATE FUNCTION ${signature}
    RETURNS TABLE (
      report_id bigint, account text, received_at timestamptz, state text, detail text, message_id text, job_number text,
      address text, status text, result text, outcome text, sent_at timestamptz, units numeric, price numeric, text text,
      run_id text, request integer, "position" integer
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC ${body}; END;`;

/** The view reads every block of a run, or of all. */
async function createReports(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE VIEW delivery_reports AS
    SELECT ${reportColumns}
    FROM unusual_delivery_reports
    UNION ALL ${ordinary('all_recipient_outcomes')};

    ${reportFunction(
      'delivery_reports_between(run text, first integer, last integer)',
      `
      SELECT ${reportColumns}
      FROM unusual_delivery_reports
      WHERE run_id = run AND request BETWEEN first AND last
      UNION ALL ${ordinary('recipient_outcomes_between(run, first, last)')}`,
    )}
    COMMENT ON FUNCTION delivery_reports_between IS 'What delivery_reports has of recipients in the range.';

    ${reportFunction(
      'delivery_reports_arrived(first bigint, last bigint)',
      `
      SELECT ${reportColumns}
      FROM unusual_delivery_reports
      WHERE report_id BETWEEN first AND last
      UNION ALL ${ordinary('(SELECT * FROM recipient_outcomes WHERE report_id BETWEEN first AND last)')}
      UNION ALL ${ordinary(`(
        SELECT *
        FROM folded_recipients
        WHERE reports && int8range(first, greatest(first, last), '[]') AND report_id BETWEEN first AND last
      )`)}`,
    )}
    COMMENT ON FUNCTION delivery_reports_arrived IS 'What delivery_reports has of calls in this range of ids.';

    ${reportFunction(
      'delivery_reports_of(reports bigint[])',
      `
      SELECT ${reportColumns}
      FROM unusual_delivery_reports
      WHERE report_id = ANY (reports)
      UNION ALL ${ordinary('(SELECT * FROM recipient_outcomes WHERE report_id = ANY (reports))')}
      UNION ALL ${ordinary('folded_by(reports)')}`,
    )}
    COMMENT ON FUNCTION delivery_reports_of IS 'What delivery_reports has of calls with these ids.';
  `);
}

/** SQL: a fold changes no outcome, so it sets this for its transaction. */
const unlessMoved = `
      IF current_setting('volley.moves_outcomes', true) = 'on' THEN
        RETURN NULL;
      END IF;`;

/**
 * SQL: refuses an outcome beside the folded one of the same recipient. A process of this version finds that before,
 * unless the fold has just been committed; one of Volley 0.3.0 does not, so it leaves the delivery report to others.
 */
const unlessFolded = `
      IF EXISTS (
        SELECT
        FROM (SELECT run_id, min(request) AS first, max(request) AS last FROM added GROUP BY run_id) a
        CROSS JOIN LATERAL (
          SELECT last_request
          FROM folded_outcomes
          WHERE run_id = a.run_id AND first_request <= a.last
          ORDER BY first_request DESC
          LIMIT 1
        ) b
        WHERE b.last_request >= a.first
      ) AND EXISTS (
        SELECT
        FROM added a
        CROSS JOIN LATERAL folded_block_of(a.run_id, a.request) b
        WHERE is_in_block(b.first_request, b.stride, b.places, a.request, a.position)
      ) THEN
        RAISE EXCEPTION 'the outcome of a recipient was folded meanwhile' USING ERRCODE = 'serialization_failure';
      END IF;`;

/** The functions of the triggers on recipient_outcomes. */
async function countOutcomes(knex: Knex, unlessMoved: string, unlessFolded: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION count_added_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${unlessMoved}
      INSERT INTO run_counts (run_id, counted, requests, recipients, group_id, words)
      SELECT run_id, outcome, 0, count(*), result_group(result), to_jsonb(result)
      FROM (SELECT run_id, outcome, result FROM added WHERE outcome <> 'cancelled') a
      GROUP BY run_id, outcome, result;
      UPDATE requests q
      SET suppressed = q.suppressed + s.recipients
      FROM (
        SELECT run_id, request, count(*) AS recipients FROM added WHERE outcome = 'cancelled' GROUP BY run_id, request
      ) s
      WHERE q.run_id = s.run_id AND q.request = s.request;${unlessFolded}
      RETURN NULL;
    END $$;

    CREATE OR REPLACE FUNCTION count_deleted_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${unlessMoved}
      INSERT INTO run_counts (run_id, counted, requests, recipients, group_id, words)
      SELECT run_id, outcome, 0, -count(*), result_group(result), to_jsonb(result)
      FROM (
        SELECT b.run_id, b.outcome, b.result
        FROM before b
        LEFT JOIN runs r USING (run_id)
        WHERE b.outcome <> 'cancelled' AND r.records_deleted_at IS NULL
      ) b
      GROUP BY run_id, outcome, result;
      RETURN NULL;
    END $$;
  `);
}

/** Slice by slice: of a slice, everything is hashed. */
async function createStates(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE VIEW recipient_states AS
    SELECT s.run_id, x.request, x.message_id, x.envelope, x.position, x.line, x.address, x.original_address, x.parts,
           x.tariff, x.request_state, x.outcome,
           CASE WHEN x.outcome IS NULL THEN x.reason
                WHEN x.outcome = 'cancelled' THEN jsonb_build_object('kind', 'suppressed')
                ELSE to_jsonb(x.result) END AS reason,
           x.units, x.price, x.reported_at
    FROM slices s
    CROSS JOIN LATERAL (
      SELECT request, q.message_id, q.envelope, q.state AS request_state, q.reason, p.position, p.line, p.address,
             p.original_address, p.parts, p.tariff, p.outcome, p.result, p.units, p.price, p.reported_at
      FROM (SELECT * FROM requests_between(s.run_id, s.first_request, s.last_request)) q
      FULL JOIN (SELECT * FROM recipient_results_between(s.run_id, s.first_request, s.last_request)) p USING (request)
      OFFSET 0
    ) x
    WHERE s.phase = 'sending' AND x.line IS NOT NULL;
  `);
}

/** As before, with the outcomes of a request from elsewhere. @param ofRequest SQL: those of one request */
async function createPositionOf(knex: Knex, ofRequest: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION position_of(run text, request integer, address text) RETURNS TABLE ("position" integer)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT CAST(coalesce(
        (
          SELECT c.positions[i]
          FROM unnest(array_positions(c.addresses, position_of.address)) AS i
          WHERE c.first_request + c.request_offsets[i] = position_of.request
          LIMIT 1
        ),
        (
          SELECT r.position
          FROM unnest(c.request_offsets, c.positions, c.addresses) AS r (request_offset, position, address)
          WHERE c.first_request + r.request_offset = position_of.request
            AND ltrim(lower(r.address), '+') = ltrim(lower(position_of.address), '+')
          ORDER BY r.position
          LIMIT 1
        ),
        CASE WHEN c.address_marks IS NOT NULL THEN (
          SELECT r.position
          FROM unnest(c.request_offsets, c.positions, c.address_marks) AS r (request_offset, position, mark)
          WHERE c.first_request + r.request_offset = position_of.request
            AND r.mark = (
              SELECT address_mark(u.message_key, position_of.address) FROM runs u WHERE u.run_id = position_of.run
            )
          ORDER BY EXISTS (
            SELECT FROM ${ofRequest} o
            WHERE o.run_id = position_of.run AND o.request = position_of.request AND o.position = r.position
          ), r.position
          LIMIT 1
        ) END
      ) AS integer)
      FROM contents_between(run, position_of.request, position_of.request) c;
    END;
  `);
}

/** As before, with outcomes from elsewhere. @param outcomes a table or view */
async function createRecounts(knex: Knex, outcomes: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION recount_run(run text) RETURNS TABLE (counted text, requests bigint, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      WITH suppressed AS MATERIALIZED (
        SELECT o.request, count(*) AS recipients
        FROM recipient_outcomes o
        WHERE o.run_id = run AND o.outcome = 'cancelled'
        GROUP BY o.request
      )
      SELECT 'all', (SELECT coalesce(sum(last_request - first_request + 1), 0) FROM slices WHERE run_id = run),
             (SELECT coalesce(sum(cardinality(positions)), 0) FROM contents WHERE run_id = run)
      UNION ALL
      SELECT CASE WHEN state = 'rejected' AND left_recipients = 0 THEN 'divided' ELSE state END, sum(number),
             sum(left_recipients)
      FROM (
        SELECT q.state, 1 AS number, q.recipients - coalesce(s.recipients, 0) AS left_recipients
        FROM requests q
        LEFT JOIN suppressed s USING (request)
        WHERE q.run_id = run
        UNION ALL
        SELECT 'accepted', a.requests, a.recipients FROM count_accepted_of_slices(run) a
      ) AS each
      GROUP BY 1
      UNION ALL
      SELECT 'suppressed', 0, sum(recipients) FROM suppressed HAVING count(*) > 0
      UNION ALL
      SELECT o.outcome, 0, count(*)
      FROM ${outcomes} o
      WHERE o.run_id = run AND o.outcome <> 'cancelled'
      GROUP BY o.outcome;
    END;

    CREATE OR REPLACE FUNCTION recount_groups(run text)
    RETURNS TABLE (counted text, group_id text, words jsonb, requests bigint, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT counted, failure_group(state, words), words, count(*), sum(recipients)
      FROM (
        SELECT CASE WHEN q.state = 'rejected' AND q.recipients = q.suppressed THEN 'divided' ELSE q.state END AS counted,
               q.state, failure_words(q.state, q.reason) AS words, q.recipients - q.suppressed AS recipients
        FROM requests q
        WHERE q.run_id = run AND q.state IN ('rejected', 'failed', 'in_doubt', 'abandoned')
      ) failed
      GROUP BY counted, state, words
      UNION ALL
      SELECT o.outcome, result_group(o.result), to_jsonb(o.result), 0, count(*)
      FROM ${outcomes} o
      WHERE o.run_id = run AND o.outcome <> 'cancelled'
      GROUP BY o.outcome, o.result;
    END;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    SELECT set_config('volley.moves_outcomes', 'on', true);
    INSERT INTO recipient_outcomes (${columns.join(', ')}) SELECT ${from('f')} FROM folded_recipients f;
    SELECT set_config('volley.moves_outcomes', 'off', true);

    CREATE OR REPLACE VIEW recipient_states AS
    SELECT q.run_id, q.request, q.message_id, q.envelope, p.position, p.line, p.address, p.original_address, p.parts,
           p.tariff, q.state AS request_state, o.outcome,
           CASE WHEN o.outcome IS NULL THEN q.reason
                WHEN o.outcome = 'cancelled' THEN jsonb_build_object('kind', 'suppressed')
                ELSE to_jsonb(o.result) END AS reason,
           o.units, o.price, o.reported_at
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q
    -- A lookup for each request: the planner cannot estimate the arrays, and would read all recipients each time.
    CROSS JOIN LATERAL recipients_between(r.run_id, q.request, q.request) p
    LEFT JOIN recipient_outcomes o
      ON o.run_id = r.run_id AND o.request = p.request AND o.position = p.position;

    CREATE OR REPLACE VIEW delivery_reports AS
    SELECT ${reportColumns}
    FROM unusual_delivery_reports
    UNION ALL ${ordinary('recipient_outcomes')};
  `);
  await createPositionOf(knex, 'recipient_outcomes');
  await createRecounts(knex, 'recipient_outcomes');
  await countOutcomes(knex, '', '');
  await knex.raw(`
    DROP FUNCTION delivery_reports_of, delivery_reports_arrived, delivery_reports_between, recipient_results_between,
      recipient_outcomes_between, is_in_block, folded_block_of, folded_by;
    DROP VIEW all_recipient_outcomes, folded_recipients;
    DROP FUNCTION numbers_in, low_half, high_half, number_of;
    DROP TABLE folded_reports, folded_outcomes;
  `);
}
