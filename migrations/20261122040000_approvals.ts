import type { Knex } from 'knex';

/** Runs that wait, or have waited, for the word of a second person before anything of them is sent. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE approvals (
      run_id          text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      -- Why it has to be approved.
      reason          text NOT NULL,
      planned_by      text NOT NULL,
      -- Null for a run that was made from another.
      campaign_file   text,
      campaign_sha256 bytea,
      approved_by     text,
      approved_at     timestamptz,
      CHECK ((approved_by IS NULL) = (approved_at IS NULL))
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE approvals');
}
