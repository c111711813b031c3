import type { Knex } from 'knex';

/**
 * A request's recipients lie together in one row, its chunk: they are planned, read and sent together, and what becomes
 * of all of them follows from the request's state. A recipient has a row of its own from the moment something is known
 * of it alone: a delivery report, or a suppression after the run was planned.
 *
 * `contact_files` keeps the contact files as they were read, so that a run can be reported row by row, and what was left
 * out mended, when the files themselves are gone. Lines are counted on from file to file: `lines_before` is how many
 * lines the files before it have.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE chunks (
      run_id             text NOT NULL,
      request            integer NOT NULL,
      lines              integer[] NOT NULL,
      addresses          text[] NOT NULL,
      -- As the file has them; NULL where they are the same as the address.
      original_addresses text[] NOT NULL,
      -- SMS parts as they were counted; NULL in other channels.
      parts              smallint[] NOT NULL,
      -- A JSON array with the destination fields other than Recipient of each; text, because it is only read whole.
      destinations       text NOT NULL,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE,
      CHECK (cardinality(addresses) = cardinality(lines)
         AND cardinality(original_addresses) = cardinality(lines)
         AND cardinality(parts) = cardinality(lines))
    );

    INSERT INTO chunks
    SELECT run_id, request, array_agg(line ORDER BY position), array_agg(address ORDER BY position),
           array_agg(nullif(original_address, address) ORDER BY position),
           array_agg(CAST(NULL AS smallint) ORDER BY position),
           CAST(jsonb_agg(destination ORDER BY position) AS text)
    FROM recipients
    GROUP BY run_id, request;

    CREATE TABLE recipient_outcomes (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      position    integer NOT NULL,
      outcome     text NOT NULL CHECK (outcome IN ('delivered', 'undelivered', 'cancelled')),
      result      text,
      units       numeric,
      price       numeric,
      reported_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, request, position),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    INSERT INTO recipient_outcomes
    SELECT run_id, request, position, outcome, result, units, price, reported_at
    FROM recipients
    WHERE outcome IS NOT NULL;

    DROP TABLE recipients;

    CREATE TABLE contact_files (
      run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE,
      file         integer NOT NULL,
      name         text NOT NULL,
      lines_before integer NOT NULL,
      encoding     text NOT NULL,
      delimiter    text NOT NULL,
      skip_lines   integer NOT NULL,
      sha256       bytea NOT NULL,
      PRIMARY KEY (run_id, file)
    );

    CREATE TABLE contact_file_pieces (
      run_id text NOT NULL,
      file   integer NOT NULL,
      piece  integer NOT NULL,
      data   bytea NOT NULL,
      PRIMARY KEY (run_id, file, piece),
      FOREIGN KEY (run_id, file) REFERENCES contact_files ON DELETE CASCADE
    );
    -- They are compressed already.
    ALTER TABLE contact_file_pieces ALTER COLUMN data SET STORAGE EXTERNAL;

    -- The run whose recipients a run sends to again; its contact files are that one's.
    ALTER TABLE runs ADD COLUMN source_run text REFERENCES runs;
    CREATE INDEX runs_of_source ON runs (source_run) WHERE source_run IS NOT NULL;
  `);
}

/** What the earlier tables cannot hold is lost: the contact files, and which run another came from. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE recipients (
      run_id           text NOT NULL,
      request          integer NOT NULL,
      position         integer NOT NULL,
      line             integer NOT NULL,
      address          text NOT NULL,
      original_address text NOT NULL,
      destination      jsonb NOT NULL,
      outcome          text CHECK (outcome IN ('delivered', 'undelivered', 'cancelled')),
      result           text,
      units            numeric,
      price            numeric,
      reported_at      timestamptz,
      PRIMARY KEY (run_id, request, position),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    INSERT INTO recipients
    SELECT c.run_id, c.request, r.position, r.line, r.address, coalesce(r.original_address, r.address),
           CAST(c.destinations AS jsonb) -> CAST(r.position - 1 AS integer),
           o.outcome, o.result, o.units, o.price, o.reported_at
    FROM chunks c
    CROSS JOIN unnest(c.lines, c.addresses, c.original_addresses)
      WITH ORDINALITY AS r (line, address, original_address, position)
    LEFT JOIN recipient_outcomes o
      ON o.run_id = c.run_id AND o.request = c.request AND o.position = r.position;

    ALTER TABLE runs DROP COLUMN source_run;
    DROP TABLE contact_file_pieces, contact_files, recipient_outcomes, chunks;
  `);
}
