import type { Knex } from 'knex';

/** One person can be erased from a run; the other recipients of its blocks stay. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON COLUMN contents.addresses IS
      'The address of each recipient; empty: this recipient is erased. Null: all are.';
    COMMENT ON COLUMN contents.address_marks IS
      'A mark for each erased recipient (address_mark), by which a late delivery report finds its position. Its element '
      'is null for the others; null: no recipient is erased.';
    COMMENT ON TABLE contact_file_pieces IS
      'Contents of contact files, in pieces of about a mebibyte, each compressed with zstd. A rerun has none. Lines of an '
      'erased person are empty; a workbook with an erased person has no pieces.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON COLUMN contents.addresses IS 'The address of each recipient; null: erased.';
    COMMENT ON COLUMN contents.address_marks IS
      'Of a purged run: a mark for each recipient (address_mark), by which a late delivery report finds its position.';
    COMMENT ON TABLE contact_file_pieces IS
      'Contents of contact files, in pieces of a mebibyte, each compressed with zstd. A rerun has none.';
  `);
}
