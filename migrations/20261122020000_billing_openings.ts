import type { Knex } from 'knex';

/**
 * Blocks whose settled requests have changed are noted as rows that are only added, in place of an update of the block: who
 * changes requests of several blocks, and who books them or closes a month, waited for each other crosswise.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE billing_openings (
      run_id text NOT NULL,
      block  integer NOT NULL
    );
    CREATE OR REPLACE FUNCTION open_billing_block() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO billing_openings (run_id, block) VALUES (NEW.run_id, NEW.request / 4096);
      RETURN NULL;
    END
    $$;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION open_billing_block() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO billing_blocks (run_id, block, open) VALUES (NEW.run_id, NEW.request / 4096, true)
      ON CONFLICT (run_id, block) DO UPDATE SET open = true;
      RETURN NULL;
    END
    $$;
    INSERT INTO billing_blocks (run_id, block, open)
    SELECT DISTINCT run_id, block, true FROM billing_openings JOIN runs USING (run_id)
    ON CONFLICT (run_id, block) DO UPDATE SET open = true;
    DROP TABLE billing_openings;
  `);
}
