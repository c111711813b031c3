import type { Knex } from 'knex';

/** Who stands behind a run, a schedule and a token, so that no person approves what is their own; a scope to approve. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE schedules
      ADD COLUMN put_in_by jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN file_sha256 bytea;
    COMMENT ON COLUMN schedules.put_in_by IS
      'The persons who put it in or changed it last, each with name and via: the user of the process that read the '
      'file, and the owner of the file. Empty: an earlier version of Volley put it in.';
    COMMENT ON COLUMN schedules.file_sha256 IS 'Of the campaign file when it was put in or changed last.';

    ALTER TABLE approvals
      ADD COLUMN planned_token text,
      ADD COLUMN scheduled_by jsonb NOT NULL DEFAULT '[]';
    UPDATE approvals
    SET planned_token = (
      SELECT token
      FROM audit
      WHERE audit.run_id = approvals.run_id AND action = 'run planned' AND outcome = 'done'
      ORDER BY entry
      LIMIT 1
    );
    COMMENT ON COLUMN approvals.planned_token IS
      'Name of the token with which it was planned. The makers of this token may not approve the run.';
    COMMENT ON COLUMN approvals.scheduled_by IS
      'Of a run of a schedule: schedules.put_in_by at planning time. These persons may not approve the run.';

    ALTER TABLE tokens
      ADD COLUMN made_by text,
      ADD COLUMN made_via text CHECK (made_via IN ('cli', 'api', 'dashboard')),
      ADD COLUMN made_with text REFERENCES tokens,
      ADD CHECK ((made_by IS NULL) = (made_via IS NULL)),
      DROP CONSTRAINT tokens_scope_check,
      ADD CONSTRAINT tokens_scope_check CHECK (scope IN ('read', 'run', 'approve', 'admin'));
    UPDATE tokens
    SET made_by = audit.actor, made_via = audit.via, made_with = audit.token
    FROM audit
    WHERE audit.action = 'token created' AND audit.outcome = 'done' AND audit.subject = tokens.name;
    COMMENT ON COLUMN tokens.scope IS
      'read: look. run: also plan, start, pause, resume and cancel runs. approve: also approve runs. admin: everything.';
    COMMENT ON COLUMN tokens.made_by IS
      'The person who made it: neither this person nor the owner approves what the other planned.';
    COMMENT ON COLUMN tokens.made_via IS 'As audit.via.';
    COMMENT ON COLUMN tokens.made_with IS 'The token with which the person made it; null: on the command line.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE tokens SET scope = 'run' WHERE scope = 'approve';
    ALTER TABLE tokens
      DROP COLUMN made_with, DROP COLUMN made_via, DROP COLUMN made_by,
      DROP CONSTRAINT tokens_scope_check,
      ADD CONSTRAINT tokens_scope_check CHECK (scope IN ('read', 'run', 'admin'));
    COMMENT ON COLUMN tokens.scope IS
      'read: look. run: also plan, start, pause, resume and cancel runs. admin: everything.';
    ALTER TABLE approvals DROP COLUMN scheduled_by, DROP COLUMN planned_token;
    ALTER TABLE schedules DROP COLUMN file_sha256, DROP COLUMN put_in_by;
  `);
}
