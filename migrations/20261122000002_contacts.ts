import type { Knex } from 'knex';

/** Contact files, and the rejected rows and keys that later planning reads. */
export async function up(knex: Knex): Promise<void> {
  await createFiles(knex);
  await createRows(knex);
}

async function createFiles(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE contact_files (
      run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE,
      file         integer NOT NULL,
      name         text NOT NULL,
      lines_before integer NOT NULL,
      encoding     text,
      delimiter    text,
      sheet        text,
      skip_lines   integer NOT NULL,
      sha256       bytea NOT NULL,
      PRIMARY KEY (run_id, file),
      CHECK ((encoding IS NULL) = (delimiter IS NULL)),
      CHECK ((encoding IS NULL) <> (sheet IS NULL))
    );
    COMMENT ON TABLE contact_files IS
      'Contact files as they were read, so that the run can be reported by row and rejected contacts corrected '
      'without the files.';
    COMMENT ON COLUMN contact_files.lines_before IS
      'Lines of the files before it: line numbers continue from file to file.';
    COMMENT ON COLUMN contact_files.sheet IS
      'Of a workbook, the sheet that was read; other files have an encoding and a delimiter.';
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
      'Contents of contact files, in pieces of a mebibyte, each compressed with zstd. A rerun has none.';
  `);
}

async function createRows(knex: Knex): Promise<void> {
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
      related_run text,
      sub_account text,
      source      text,
      file        text,
      number      bigint,
      differs     boolean,
      PRIMARY KEY (run_id, line)
    );
    COMMENT ON TABLE rejected_contacts IS 'Rows of the contact files that were rejected at planning time.';
    COMMENT ON COLUMN rejected_contacts.line IS 'Continues from file to file.';
    COMMENT ON COLUMN rejected_contacts.column_name IS 'The column that caused the rejection.';
    COMMENT ON COLUMN rejected_contacts.reason IS
      'invalid: a value is unusable. duplicate: an earlier row is the same, or an earlier run reached the '
      'recipient. suppressed: the address must not be sent to.';
    COMMENT ON COLUMN rejected_contacts.kind IS
      'Details of the reason, with values in the next columns; null: purged. unusable: message says what is wrong. '
      'sent, to_be_sent, may_have_been_sent: by related_run. sent_again: by related_run, an earlier rerun of the '
      'same run. same_contact: file and number give the earlier row. suppressed_address: the address is suppressed. '
      'suppressed_hash: a hash of the address is. listed: a list of the campaign has the address; file and number '
      'give its line. sent_recently: related_run sent to the address within number milliseconds.';
    COMMENT ON COLUMN rejected_contacts.message IS
      'In the words of the import, or of the operator who suppressed the address.';
    COMMENT ON COLUMN rejected_contacts.related_run IS 'The run of the kind, or of the suppression.';
    COMMENT ON COLUMN rejected_contacts.source IS 'As in suppressions.';
    COMMENT ON COLUMN rejected_contacts.differs IS 'Whether its message would differ from that of the earlier row.';

    CREATE TABLE recipient_keys (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line   integer NOT NULL,
      key    uuid NOT NULL,
      PRIMARY KEY (run_id, line)
    );
    COMMENT ON TABLE recipient_keys IS
      'Keys that identify contacts, where the address does not. Planning a run of corrected contacts compares them.';
    COMMENT ON COLUMN recipient_keys.key IS
      'Digest of the columns in contacts.key, or of the whole row with duplicates: allow.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_keys, rejected_contacts, contact_file_pieces, contact_files');
}
