import type pg from 'pg';
import { InputError } from '../../domain/problems.ts';
import { hasCode } from '../../platform/file-error.ts';

/** Drops all temporary tables of the session, in which there is nothing but a plan. */
const dropTables = 'DISCARD TEMP';

export async function dropStagingTables(client: pg.ClientBase): Promise<void> {
  await client.query(dropTables);
}

/**
 * Creates the temporary tables of a plan, of which `decideContacts` fills the later ones. The statements after these change only temporary tables
 * until a run is written, so Postgres allows them in a read-only session too.
 *
 * @throws InputError when the role may not, or the server is a stand-by
 */
export async function createStagingTables(client: pg.ClientBase): Promise<void> {
  await client
    .query(
      `
    BEGIN READ WRITE;
    ${dropTables};
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
      fields text NOT NULL, other_fields text, maybe_repeated boolean NOT NULL DEFAULT true, variant smallint
    );
    ALTER TABLE staged_envelopes ALTER COLUMN envelope SET STATISTICS 10, ALTER COLUMN maybe_repeated SET STATISTICS 10;
    COMMENT ON COLUMN staged_envelopes.other_fields IS
      'A JSON object with keypads, files and audio; null where there are none of them.';
    COMMENT ON COLUMN staged_envelopes.maybe_repeated IS
      'Whether an envelope before it may be equal; where false, none is.';
    COMMENT ON COLUMN staged_envelopes.variant IS
      'The variant of its contacts, from 1; 0: they wait for the winner; null: the campaign has none.';
    CREATE TEMPORARY TABLE staged_rejections (
      line integer NOT NULL, column_name text NOT NULL, reason text NOT NULL, kind text NOT NULL, message text,
      related_run text
    );
    CREATE TEMPORARY TABLE staged_suppressions (
      list_index integer GENERATED ALWAYS AS IDENTITY,
      address text COLLATE "C" NOT NULL, sub_account text NOT NULL, file text NOT NULL, line integer NOT NULL
    );
    CREATE TEMPORARY TABLE staged_pieces (
      file integer NOT NULL, piece integer NOT NULL, data bytea NOT NULL, lines_before integer, words bytea
    );
    ALTER TABLE staged_pieces ALTER COLUMN data SET STORAGE EXTERNAL;
    CREATE TEMPORARY TABLE staged_notes (line integer NOT NULL, note json NOT NULL);

    CREATE TEMPORARY TABLE merged_envelopes (envelope integer, first integer);
    CREATE TEMPORARY TABLE left_out (
      line integer, column_name text, reason text, kind text, message text, related_run text, sub_account text, source text,
      file text, number bigint, differs boolean, most integer
    );
    CREATE TEMPORARY TABLE repeated_contacts (row tid, line integer, first_line integer, differs boolean);
    CREATE TEMPORARY TABLE separated_contacts (line integer, envelope integer, copy integer);
    CREATE TEMPORARY TABLE staged_windows (
      window_index smallint, zones text, opens_at timestamptz, closes_at timestamptz, send_at timestamptz, fields jsonb
    );
    CREATE TEMPORARY TABLE sized_envelopes (
      staged integer, envelope integer, recipients integer, parts bigint, requests integer, requests_before integer,
      recipients_before integer, window_index smallint, variant smallint
    );
    COMMIT;
  `,
    )
    .catch((error: unknown) => {
      throw explainRefusal(error);
    });
}

/** SQL: `path` of each file in rows `other` with `fields`: the `other_fields` of envelopes. */
export const pathsOfOther = `
  SELECT f ->> 'path' AS path FROM other CROSS JOIN LATERAL jsonb_array_elements(fields -> 'files') AS f
  UNION
  SELECT a.value FROM other CROSS JOIN LATERAL jsonb_each_text(fields -> 'audio') AS a`;

/** Errors of Postgres: insufficient privilege, and a transaction that cannot write, because the server is a stand-by. */
function explainRefusal(error: unknown): unknown {
  const what = hasCode(error, '42501')
    ? 'The role may not create temporary tables, which planning needs. As the owner of the database: GRANT TEMPORARY ON DATABASE … TO … (docs/how-to/deployment.md).'
    : hasCode(error, '25006') || hasCode(error, '0A000')
      ? 'The server is a read-only stand-by, and planning needs temporary tables. Use the address of the primary.'
      : undefined;
  return what === undefined ? error : new InputError([{ where: 'DATABASE_URL', what }], { cause: error });
}

/** Call this once all contacts are staged. */
export async function analyzeStagingTables(client: pg.ClientBase): Promise<void> {
  await client.query(
    'ANALYZE staged_contacts (line, envelope, address, maybe_repeated), staged_envelopes (envelope, maybe_repeated)',
  );
}
