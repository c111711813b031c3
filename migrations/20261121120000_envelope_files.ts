import type { Knex } from 'knex';

/**
 * Files belong to the envelope: recipients with different files are in different requests. A file is known by its path
 * in the campaign's folder; its name for the recipient stands in the envelope. Files of earlier runs are given to every
 * envelope of their run, as they were sent with every request.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE envelopes
      ADD COLUMN keypads jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN files   jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN audio   jsonb NOT NULL DEFAULT '{}';

    ALTER TABLE run_files ADD COLUMN path text;
    UPDATE run_files SET path = position || '/' || name;

    UPDATE envelopes e
    SET files = f.files
    FROM (
      SELECT run_id, jsonb_agg(jsonb_build_object('path', path, 'name', name) ORDER BY position) AS files
      FROM run_files
      GROUP BY run_id
    ) f
    WHERE f.run_id = e.run_id;

    ALTER TABLE run_files
      DROP CONSTRAINT run_files_pkey,
      DROP COLUMN position,
      DROP COLUMN name,
      ALTER COLUMN path SET NOT NULL,
      ADD PRIMARY KEY (run_id, path);
  `);
}

/**
 * Keypads, audio and files of single contacts cannot be told in the earlier table; every request gets every file. Names
 * and order are those of the first envelope that has the file; of a run without envelopes nothing is ever sent.
 */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE run_files ADD COLUMN position integer, ADD COLUMN name text;

    UPDATE run_files r
    SET position = n.position, name = n.name
    FROM (
      SELECT run_id, path, coalesce(f.name, regexp_replace(path, '^.*/', '')) AS name,
             row_number() OVER (PARTITION BY run_id ORDER BY f.envelope, f.place, path) AS position
      FROM run_files
      LEFT JOIN (
        SELECT DISTINCT ON (run_id, path) run_id, envelope, place, file ->> 'path' AS path, file ->> 'name' AS name
        FROM envelopes, jsonb_array_elements(files) WITH ORDINALITY AS listed (file, place)
        ORDER BY run_id, path, envelope, place
      ) f USING (run_id, path)
    ) n
    WHERE n.run_id = r.run_id AND n.path = r.path;

    ALTER TABLE run_files
      DROP CONSTRAINT run_files_pkey,
      DROP COLUMN path,
      ALTER COLUMN position SET NOT NULL,
      ALTER COLUMN name SET NOT NULL,
      ADD PRIMARY KEY (run_id, position);

    ALTER TABLE envelopes DROP COLUMN keypads, DROP COLUMN files, DROP COLUMN audio;
  `);
}
