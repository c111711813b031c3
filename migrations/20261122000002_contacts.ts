import type { Knex } from 'knex';

/** The contact files of a run, and what later planning has to know of their rows. */
export async function up(knex: Knex): Promise<void> {
  await makeFiles(knex);
  await makeRows(knex);
}

async function makeFiles(knex: Knex): Promise<void> {
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
    COMMENT ON TABLE contact_files IS
      'Contact files as they were read, so that a run can be reported row by row, and its rejected contacts mended, '
      'when the files themselves are gone.';
    COMMENT ON COLUMN contact_files.lines_before IS
      'Lines of the files before it: lines are counted on from file to file.';
    COMMENT ON COLUMN contact_files.skip_lines IS 'Lines before the header.';
    COMMENT ON COLUMN contact_files.sha256 IS 'Of the bytes of the file.';

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
    COMMENT ON TABLE contact_file_pieces IS
      'The content of contact files: pieces of one mebibyte, each compressed with zstd. A run that was made from '
      'another has none.';
  `);
}

async function makeRows(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE rejected_contacts (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line        integer NOT NULL,
      column_name text NOT NULL,
      reason      text NOT NULL CHECK (reason IN ('invalid', 'duplicate', 'suppressed')),
      kind        text CHECK (kind IN
                    ('unusable', 'sent', 'to_be_sent', 'may_have_been_sent', 'sent_again', 'same_contact',
                     'suppressed_address', 'suppressed_hash', 'listed', 'sent_recently')),
      message     text,
      related_run      text,
      sub_account text,
      source      text,
      file        text,
      number      bigint,
      differs     boolean,
      PRIMARY KEY (run_id, line)
    );
    COMMENT ON TABLE rejected_contacts IS
      'Rows of the contact files that were left out of the run when it was planned.';
    COMMENT ON COLUMN rejected_contacts.line IS 'Counted on from file to file.';
    COMMENT ON COLUMN rejected_contacts.column_name IS 'The column that decided.';
    COMMENT ON COLUMN rejected_contacts.reason IS
      'invalid: a value cannot be used. duplicate: the same as an earlier row, or reached by an earlier run. '
      'suppressed: the address must not be sent to.';
    COMMENT ON COLUMN rejected_contacts.kind IS
      'Why; the columns after it have the values. unusable: what is wrong with the row is in message. sent, to_be_sent, '
      'may_have_been_sent: by that run. sent_again: by that run, to recipients of the same run as this one. '
      'same_contact: as the earlier row at that file and number. suppressed_address: its address is. suppressed_hash: '
      'the same, by a hash alone. listed: in a list of the campaign, at that file and number. sent_recently: by that '
      'run, within so many milliseconds (number). Null: purged.';
    COMMENT ON COLUMN rejected_contacts.message IS
      'In the words of the import, or of the one who had the address suppressed.';
    COMMENT ON COLUMN rejected_contacts.related_run IS 'The run that kind, or the suppression, is of.';
    COMMENT ON COLUMN rejected_contacts.source IS 'As in suppressions.';
    COMMENT ON COLUMN rejected_contacts.differs IS 'Whether it would be sent something else than the earlier row.';

    CREATE TABLE recipient_keys (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line   integer NOT NULL,
      key    uuid NOT NULL,
      PRIMARY KEY (run_id, line)
    );
    COMMENT ON TABLE recipient_keys IS
      'What tells the contacts of a run from one another where that is not their address: planning a run of mended '
      'contacts compares by it.';
    COMMENT ON COLUMN recipient_keys.key IS
      'A digest of the columns of contacts.key, or of the whole row with duplicates: allow.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_keys, rejected_contacts, contact_file_pieces, contact_files');
}
