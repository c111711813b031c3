import type { Knex } from 'knex';

/**
 * Recipients and message contents. Recipients of neighbouring requests share a row, a block: for requests with one
 * recipient, a row each would cost more than its content.
 */
export async function up(knex: Knex): Promise<void> {
  await createEnvelopes(knex);
  await createContents(knex);
  await createRanges(knex);
  await createArrays(knex);
}

async function createEnvelopes(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A foreign key would add half to the time of writing a million envelopes.
    CREATE TABLE envelopes (
      run_id       text NOT NULL,
      envelope     integer NOT NULL,
      fields       jsonb NOT NULL,
      keypads      jsonb NOT NULL DEFAULT '[]',
      files        jsonb NOT NULL DEFAULT '[]',
      audio        jsonb NOT NULL DEFAULT '{}',
      sub_account  text,
      department   text,
      charge_code  text,
      window_index smallint,
      PRIMARY KEY (run_id, envelope)
    );
    COMMENT ON TABLE envelopes IS
      'Values of a whole request: message content, files and payer. Requests with the same values share a row.';
    COMMENT ON COLUMN envelopes.fields IS 'Values of message fields, by their names in the interface.';
    COMMENT ON COLUMN envelopes.keypads IS 'Keypad options of voice messages, as sent.';
    COMMENT ON COLUMN envelopes.files IS 'Path (as in run_files) and name of each file.';
    COMMENT ON COLUMN envelopes.audio IS 'Path of the audio file for each field of a voice message.';
    COMMENT ON COLUMN envelopes.sub_account IS
      'The payer, with department and charge_code; copied from fields for billing.';
    COMMENT ON COLUMN envelopes.window_index IS 'Its window, as in run_windows; null: the run has no windows.';
  `);
}

async function createContents(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE contents (
      run_id             text NOT NULL REFERENCES runs ON DELETE CASCADE,
      first_request      integer NOT NULL,
      last_request       integer NOT NULL,
      slice              integer NOT NULL,
      envelopes          integer[] NOT NULL,
      sizes              smallint[] NOT NULL,
      request_offsets    smallint[] NOT NULL,
      positions          smallint[] NOT NULL,
      lines              integer[] NOT NULL,
      addresses          text[],
      original_addresses text[],
      parts              smallint[],
      tariffs            smallint[],
      destinations       text,
      PRIMARY KEY (run_id, first_request),
      CHECK (cardinality(envelopes) = last_request - first_request + 1
         AND cardinality(sizes) = cardinality(envelopes)),
      CHECK (cardinality(request_offsets) = cardinality(lines)
         AND cardinality(positions) = cardinality(lines)
         AND cardinality(addresses) = cardinality(lines)
         AND cardinality(original_addresses) = cardinality(lines)
         AND cardinality(parts) = cardinality(lines)
         AND cardinality(tariffs) = cardinality(lines))
    );
    COMMENT ON TABLE contents IS
      'Recipients of requests. Each row is a block: it holds the recipients of neighbouring requests of one slice, '
      'ordered by request and position. A request belongs to the block with the highest first_request up to its own '
      'number.';
    COMMENT ON COLUMN contents.envelopes IS 'The envelope of each request.';
    COMMENT ON COLUMN contents.sizes IS 'The number of recipients of each request.';
    COMMENT ON COLUMN contents.request_offsets IS 'The request of each recipient, minus first_request.';
    COMMENT ON COLUMN contents.positions IS 'The position of each recipient in its request, from 1.';
    COMMENT ON COLUMN contents.lines IS 'The line of each recipient; lines continue from file to file.';
    COMMENT ON COLUMN contents.addresses IS 'The address of each recipient; null: erased.';
    COMMENT ON COLUMN contents.original_addresses IS
      'Addresses as in the contact file. An element is null where it equals the address, the column where all do or '
      'they are erased.';
    COMMENT ON COLUMN contents.parts IS 'SMS parts of each recipient; null in other channels.';
    COMMENT ON COLUMN contents.tariffs IS
      'The index of each recipient''s tariff in runs.rates, from 0; null: the run has one tariff.';
    COMMENT ON COLUMN contents.destinations IS
      'A JSON array of destination fields other than Recipient, one line for each recipient; null: none, or erased. '
      'Text, because it is only read whole.';
  `);
}

/** A block that begins before the range may reach into it. */
async function createRanges(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION contents_between(run text, first integer, last integer) RETURNS SETOF contents
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT *
      FROM contents c
      WHERE c.run_id = run AND c.last_request >= first
        AND c.first_request BETWEEN coalesce((
          SELECT b.first_request
          FROM contents b
          WHERE b.run_id = run AND b.first_request <= first
          ORDER BY b.first_request DESC
          LIMIT 1
        ), first) AND last
      OFFSET 0; -- a lookup for each row of the caller; inlined, it would read all blocks of a run
    END;
    COMMENT ON FUNCTION contents_between IS 'Blocks with requests in the range.';

    CREATE FUNCTION recipients_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, "position" integer, line integer, address text, original_address text,
      parts smallint, tariff smallint
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT c.run_id, c.first_request + r.request_offset, CAST(r.position AS integer), r.line, r.address,
             r.original_address, r.parts, r.tariff
      FROM contents_between(run, first, last) c
      CROSS JOIN LATERAL unnest(
        c.request_offsets, c.positions, c.lines, c.addresses, c.original_addresses, c.parts, c.tariffs
      ) AS r (request_offset, position, line, address, original_address, parts, tariff)
      WHERE c.first_request + r.request_offset BETWEEN first AND last;
    END;
    COMMENT ON FUNCTION recipients_between IS
      'One row for each recipient in the range, with its position in the request, from 1.';
  `);
}

/** Sending reads recipients by request; a delivery report looks up one recipient. */
async function createArrays(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION chunks_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, lines integer[], addresses text[], original_addresses text[], parts smallint[],
      tariffs smallint[], destinations text
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT c.run_id, c.first_request + r.request_offset, c.lines[r.low : r.high], c.addresses[r.low : r.high],
             c.original_addresses[r.low : r.high], c.parts[r.low : r.high], c.tariffs[r.low : r.high],
             CASE
               WHEN c.first_request = c.last_request OR c.destinations IS NULL THEN c.destinations
               ELSE (
                 SELECT '[' || string_agg(CAST(d.destination AS text), E',\\n' ORDER BY d.number) || ']'
                 FROM json_array_elements(CAST(c.destinations AS json)) WITH ORDINALITY AS d (destination, number)
                 WHERE d.number BETWEEN r.low AND r.high
               )
             END
      FROM contents_between(run, first, last) c
      CROSS JOIN LATERAL (
        SELECT CAST(s.number - 1 AS integer) AS request_offset,
               CAST(sum(s.size) OVER (ORDER BY s.number) - s.size + 1 AS integer) AS low,
               CAST(sum(s.size) OVER (ORDER BY s.number) AS integer) AS high
        FROM unnest(c.sizes) WITH ORDINALITY AS s (size, number)
      ) r
      WHERE c.first_request + r.request_offset BETWEEN first AND last;
    END;
    COMMENT ON FUNCTION chunks_between IS
      'One row for each request in the range, with arrays of its recipients ordered by position.';

    CREATE FUNCTION position_of(run text, request integer, address text) RETURNS TABLE ("position" integer)
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
        )
      ) AS integer)
      FROM contents_between(run, position_of.request, position_of.request) c;
    END;
    COMMENT ON FUNCTION position_of IS
      'The position of a recipient in a request, by address. Case and plus sign may differ where no address is '
      'identical.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP FUNCTION position_of, chunks_between, recipients_between, contents_between;
    DROP TABLE contents, envelopes;
  `);
}
