import type { Knex } from 'knex';

/** The contact files of a run, and what later planning has to know of their rows. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
    -- The pieces are compressed already.
    ALTER TABLE contact_file_pieces ALTER COLUMN data SET STORAGE EXTERNAL;

    CREATE TABLE rejected_contacts (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line        integer NOT NULL,
      column_name text NOT NULL,
      reason      text NOT NULL CHECK (reason IN ('invalid', 'duplicate', 'suppressed')),
      detail      text NOT NULL,
      PRIMARY KEY (run_id, line)
    );

    CREATE TABLE recipient_keys (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line   integer NOT NULL,
      key    uuid NOT NULL,
      PRIMARY KEY (run_id, line)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_keys, rejected_contacts, contact_file_pieces, contact_files');
}
