import type { Knex } from 'knex';

/**
 * Variants of a message. A slice has requests of one variant, so what is counted by slice, such as billing entries, is
 * counted by variant too.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await knex.raw(`
    ALTER TABLE slices ADD COLUMN variant smallint;
    COMMENT ON COLUMN slices.variant IS
      'The variant of all its requests, as in envelopes; null: the campaign has none, or Volley 0.3.0 divided a request.';

    CREATE TABLE run_rests (
      run_id        text PRIMARY KEY REFERENCES runs,
      campaign_file text NOT NULL,
      source        text,
      observed_ms   bigint NOT NULL DEFAULT 0 CHECK (observed_ms >= 0),
      looked_at     timestamptz,
      variant       smallint CHECK (variant BETWEEN 1 AND 5),
      rest_run      text UNIQUE REFERENCES runs,
      tried_at      timestamptz,
      problem       text,
      CHECK (rest_run IS NULL OR variant IS NOT NULL)
    );
    CREATE INDEX run_rests_open ON run_rests (run_id) WHERE rest_run IS NULL;
    COMMENT ON TABLE run_rests IS
      'Runs of campaigns with until: winner. They send the variants to a part of the contacts; a run of its own sends the '
      'winner to the rest.';
    COMMENT ON COLUMN run_rests.campaign_file IS 'An absolute path.';
    COMMENT ON COLUMN run_rests.source IS 'The campaign as it was written, of which the rest is planned; null: erased.';
    COMMENT ON COLUMN run_rests.observed_ms IS
      'How long it has been observed since all was sent. Each look adds the time since the one before, but at most 10 '
      'seconds.';
    COMMENT ON COLUMN run_rests.looked_at IS 'When Volley last looked; null: it has not.';
    COMMENT ON COLUMN run_rests.variant IS 'The variant that the rest gets; null: it is not decided.';
    COMMENT ON COLUMN run_rests.rest_run IS 'The run that sends it; null: it is not planned.';
    COMMENT ON COLUMN run_rests.tried_at IS 'When the rest was last planned without success; null: never.';
    COMMENT ON COLUMN run_rests.problem IS 'Why it could not be planned; null: it was not tried.';
  `);
  await replaceKinds(knex, (kinds) => [...kinds, addedKind], explainKind);
}

/** The people of control groups stay left out, and their reason stays as words. */
export async function down(knex: Knex): Promise<void> {
  await lockTables(knex);
  await knex.raw(`
    UPDATE rejected_contacts SET kind = 'unusable', message = 'in the control group' WHERE kind = '${addedKind}';
    DROP TABLE run_rests;
    ALTER TABLE slices DROP COLUMN variant;
  `);
  await replaceKinds(knex, (kinds) => kinds.filter((kind) => kind !== addedKind), '');
}

const addedKind = 'control_group';
const explainKind = ' control_group: it is in the control group of the campaign, which gets nothing.';

/** Processes lock these tables in other orders. So the migration never waits for one while it has another. */
async function lockTables(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          LOCK TABLE runs, slices, rejected_contacts IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
  `);
}

/**
 * Changes the kinds that the constraint has now, because other migrations add theirs in any order. Only new rows are
 * compared: there may be many.
 *
 * @param explained ends the comment of the column; empty: what this migration added is removed
 */
async function replaceKinds(
  knex: Knex,
  change: (kinds: readonly string[]) => readonly string[],
  explained: string,
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { readonly kinds: string[]; readonly comment: string }[] }>(`
    SELECT ARRAY(
             SELECT literal[1]
             FROM pg_constraint c
             CROSS JOIN LATERAL regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''', 'g')
               WITH ORDINALITY AS found (literal, place)
             WHERE c.conrelid = attrelid AND c.conname = 'rejected_contacts_kind_check'
             ORDER BY place
           ) AS kinds,
           col_description(attrelid, attnum) AS comment
    FROM pg_attribute
    WHERE attrelid = CAST('rejected_contacts' AS regclass) AND attname = 'kind'
  `);
  const [found] = rows;
  if (!found) throw new Error('rejected_contacts has no column kind');
  const comment = found.comment.replace(explainKind, '') + explained;
  await knex.raw(`
    ALTER TABLE rejected_contacts
      DROP CONSTRAINT rejected_contacts_kind_check,
      ADD CONSTRAINT rejected_contacts_kind_check CHECK (kind IN (${literals(change(found.kinds))})) NOT VALID;
    COMMENT ON COLUMN rejected_contacts.kind IS ${literals([comment])};
  `);
}

function literals(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ');
}
