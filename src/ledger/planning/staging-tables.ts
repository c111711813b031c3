import type pg from 'pg';

/** Creates temporary tables, and drops those of an earlier plan. */
export async function createStagingTables(client: pg.ClientBase): Promise<void> {
  await client.query(`
    DROP TABLE IF EXISTS
      staged_contacts, staged_envelopes, staged_rejections, staged_pieces, staged_suppressions;
    CREATE TEMPORARY TABLE staged_contacts (
      line             integer NOT NULL,
      envelope         integer NOT NULL,
      parts            smallint,
      tariff           smallint,
      maybe_repeated            boolean NOT NULL DEFAULT true,
      key              uuid,
      address          text COLLATE "C" NOT NULL,
      original_address text,
      destination      text NOT NULL
    );
    COMMENT ON COLUMN staged_contacts.maybe_repeated IS
      'Whether a contact before it may be the same; where false, none is. So duplicates need not be looked for among all.';
    -- A few thousand sampled rows are enough for the planner.
    ALTER TABLE staged_contacts
      ALTER COLUMN line SET STATISTICS 10,
      ALTER COLUMN envelope SET STATISTICS 10,
      ALTER COLUMN address SET STATISTICS 10,
      ALTER COLUMN maybe_repeated SET STATISTICS 10;
    CREATE TEMPORARY TABLE staged_envelopes (
      envelope integer NOT NULL, sub_account text, department text, charge_code text, zones text,
      fields text NOT NULL, other_fields text, maybe_repeated boolean NOT NULL DEFAULT true
    );
    ALTER TABLE staged_envelopes ALTER COLUMN envelope SET STATISTICS 10, ALTER COLUMN maybe_repeated SET STATISTICS 10;
    COMMENT ON COLUMN staged_envelopes.other_fields IS
      'A JSON object with keypads, files and audio; null where there are none of them.';
    COMMENT ON COLUMN staged_envelopes.maybe_repeated IS
      'Whether an envelope before it may be equal; where false, none is.';
    CREATE TEMPORARY TABLE staged_rejections (
      line integer NOT NULL, column_name text NOT NULL, reason text NOT NULL, kind text NOT NULL, message text,
      related_run text
    );
    CREATE TEMPORARY TABLE staged_suppressions (
      list_index integer GENERATED ALWAYS AS IDENTITY,
      address text COLLATE "C" NOT NULL, sub_account text NOT NULL, file text NOT NULL, line integer NOT NULL
    );
    CREATE TEMPORARY TABLE staged_pieces (file integer NOT NULL, piece integer NOT NULL, data bytea NOT NULL);
    ALTER TABLE staged_pieces ALTER COLUMN data SET STORAGE EXTERNAL;
  `);
}

/** Call this once all contacts are staged. */
export async function analyzeStagingTables(client: pg.ClientBase): Promise<void> {
  await client.query(
    'ANALYZE staged_contacts (line, envelope, address, maybe_repeated), staged_envelopes (envelope, maybe_repeated)',
  );
}
