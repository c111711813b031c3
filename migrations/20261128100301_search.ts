import type { Knex } from 'knex';

/** An index of the words in kept contact files, so that a search reads few of their pieces; a scope that may search. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE contact_file_pieces
      ADD COLUMN lines_before integer,
      ADD COLUMN words bytea,
      ADD CHECK ((lines_before IS NULL) = (words IS NULL)),
      -- Read byte by byte.
      ALTER COLUMN words SET STORAGE EXTERNAL;
    COMMENT ON COLUMN contact_file_pieces.lines_before IS
      'Lines of the file before this piece, which ends at a line end, so that it can be read alone. Null: it cannot, '
      'because the file is packed, in UTF-16 or a workbook, or an earlier version wrote it.';
    COMMENT ON COLUMN contact_file_pieces.words IS
      'A Bloom filter of the words in the piece, four bits for each; its number of bits is a power of two.';

    CREATE FUNCTION may_have_words(words bytea, bits integer[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT NOT EXISTS (
        SELECT
        FROM (SELECT bit & (octet_length(words) * 8 - 1) AS bit FROM unnest(bits) AS bit) b
        WHERE get_bit(substring(words FROM b.bit / 8 + 1 FOR 1), CAST(b.bit & 7 AS bigint)) = 0
      );
    END;
    COMMENT ON FUNCTION may_have_words IS 'Whether all of these bits are set in a Bloom filter.';

    CREATE FUNCTION forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.lines_before := NULL;
      NEW.words := NULL;
      RETURN NEW;
    END $$;
    COMMENT ON FUNCTION forget_words IS
      'A process of Volley 0.3.0 that erases a person writes the piece, and does not know its words.';
    CREATE TRIGGER forget_words BEFORE UPDATE OF data ON contact_file_pieces
      FOR EACH ROW WHEN (NEW.words IS NOT DISTINCT FROM OLD.words) EXECUTE FUNCTION forget_words();

    ALTER TABLE tokens
      DROP CONSTRAINT tokens_scope_check,
      ADD CONSTRAINT tokens_scope_check CHECK (scope IN ('read', 'search', 'run', 'approve', 'admin'));
    COMMENT ON COLUMN tokens.scope IS
      'read: look. search: also search contact files. run: also plan, start, pause, resume and cancel runs. '
      'approve: also approve runs. admin: everything.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE tokens SET scope = 'read' WHERE scope = 'search';
    ALTER TABLE tokens
      DROP CONSTRAINT tokens_scope_check,
      ADD CONSTRAINT tokens_scope_check CHECK (scope IN ('read', 'run', 'approve', 'admin'));
    COMMENT ON COLUMN tokens.scope IS
      'read: look. run: also plan, start, pause, resume and cancel runs. approve: also approve runs. admin: everything.';
    DROP TRIGGER forget_words ON contact_file_pieces;
    DROP FUNCTION forget_words, may_have_words;
    ALTER TABLE contact_file_pieces DROP COLUMN words, DROP COLUMN lines_before;
  `);
}
