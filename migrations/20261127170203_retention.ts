import type { Knex } from 'knex';

/** `volley purge --records-older-than` and `--audit-older-than` delete what would otherwise grow without end. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE runs ADD COLUMN records_deleted_at timestamptz;
    COMMENT ON COLUMN runs.records_deleted_at IS
      'When the deletion of its contents, envelopes, recipient outcomes, rejected contacts, notifications and job numbers '
      'began. Counts, requests with rows, and billing entries stay.';

    -- The counts of a run stay when its outcomes go.
    CREATE OR REPLACE FUNCTION count_deleted_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT b.run_id, b.outcome, 0, -count(*)
      FROM before b
      LEFT JOIN runs r USING (run_id)
      WHERE b.outcome <> 'cancelled' AND r.records_deleted_at IS NULL
      GROUP BY b.run_id, b.outcome;
      RETURN NULL;
    END $$;

    CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND current_setting('volley.deletes_audit', true) = 'on' THEN
        RETURN NULL;
      END IF;
      RAISE EXCEPTION 'the audit trail is append-only';
    END $$;

    CREATE FUNCTION delete_audit(before timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      deleted bigint;
    BEGIN
      IF before > now() - interval '1 year' THEN
        RAISE EXCEPTION 'audit entries of the last year stay';
      END IF;
      PERFORM set_config('volley.deletes_audit', 'on', true);
      DELETE FROM audit
      WHERE at < before
        AND NOT EXISTS (
          SELECT FROM runs r WHERE r.run_id = audit.run_id AND r.state IN ('planned', 'running', 'paused')
        );
      GET DIAGNOSTICS deleted = ROW_COUNT;
      PERFORM set_config('volley.deletes_audit', '', true);
      RETURN deleted;
    END $$;
    COMMENT ON FUNCTION delete_audit IS
      'The only way to delete audit entries: those before a time that is at least a year ago, and of no run that goes on.';
    COMMENT ON TABLE audit IS
      'Actions of people and schedules. Rows are only added, and contain nothing about recipients. delete_audit deletes '
      'old ones.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP FUNCTION delete_audit;
    CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit trail is append-only';
    END $$;
    CREATE OR REPLACE FUNCTION count_deleted_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, outcome, 0, -count(*) FROM before WHERE outcome <> 'cancelled' GROUP BY run_id, outcome;
      RETURN NULL;
    END $$;
    COMMENT ON TABLE audit IS
      'Actions of people and schedules. Rows are only added, and contain nothing about recipients.';
    ALTER TABLE runs DROP COLUMN records_deleted_at;
  `);
}
