import type { Knex } from 'knex';

/** Notifications about runs and schedules. */
export async function up(knex: Knex): Promise<void> {
  await createLists(knex);
  await createNotifications(knex);
}

async function createLists(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE notify_lists (
      run_id        text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      targets       jsonb NOT NULL,
      campaign_file text
    );
    COMMENT ON TABLE notify_lists IS
      'Notification targets of a run, as the campaign had them at planning time. Names of secrets, never secrets.';
    COMMENT ON COLUMN notify_lists.campaign_file IS 'Absolute path on the machine that planned the run.';
  `);
}

async function createNotifications(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE notifications (
      notification  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      run_id        text REFERENCES runs ON DELETE CASCADE,
      change        bigint,
      schedule      text REFERENCES schedules ON DELETE CASCADE,
      tick          timestamptz,
      target_index  integer NOT NULL,
      event         text NOT NULL CHECK (event IN
                      ('completed', 'failures', 'paused', 'missed', 'refused')),
      target        jsonb NOT NULL,
      campaign_file text,
      missed        jsonb,
      refused       jsonb,
      reason        jsonb CHECK (reason ->> 'kind' IN
                      ('interrupted', 'waits_for_approval', 'approved', 'all_rejected', 'too_many_rejected',
                       'credential_refused', 'service_refuses', 'doubts_reopened', 'ledger_held', 'ledger_restored',
                       'untried_proof', 'no_worker', 'run_not_over', 'ledger_restored_since')),
      created_at    timestamptz NOT NULL,
      state         text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'acknowledged', 'given up')),
      due_at        timestamptz NOT NULL DEFAULT '-infinity',
      acquisitions  integer NOT NULL DEFAULT 0,
      attempts      integer NOT NULL DEFAULT 0,
      body          text,
      problem       text,
      ended_at      timestamptz,
      mail_run      text,
      CHECK ((run_id IS NULL) = (change IS NULL)),
      CHECK ((schedule IS NULL) = (tick IS NULL)),
      CHECK (num_nonnulls(run_id, schedule) = 1 OR (refused IS NOT NULL AND run_id IS NULL)),
      CHECK ((state = 'due') = (ended_at IS NULL)),
      UNIQUE (run_id, change, target_index),
      UNIQUE (schedule, tick, target_index)
    );
    CREATE INDEX notifications_due ON notifications (due_at) WHERE state = 'due';
    CREATE INDEX notifications_given_up ON notifications (state) WHERE state = 'given up';
    CREATE UNIQUE INDEX notifications_mail_run ON notifications (mail_run) WHERE mail_run IS NOT NULL;
    COMMENT ON TABLE notifications IS
      'One row for each event and target. It is about a change of a run (run_id and change), a tick without a run '
      '(schedule and tick), or a refused run (refused).';
    COMMENT ON COLUMN notifications.change IS 'The row of run_states.';
    COMMENT ON COLUMN notifications.tick IS 'The row of ticks; the last one if several were missed at once.';
    COMMENT ON COLUMN notifications.target_index IS 'From 1, in the list of targets.';
    COMMENT ON COLUMN notifications.event IS
      'completed: all requests of the run are accepted. failures: the run is over, and requests were rejected, '
      'failed, abandoned or are in doubt. paused: the run is paused. missed: a tick has no run. refused: Volley '
      'refused a run because of its contacts.';
    COMMENT ON COLUMN notifications.target IS 'As in notify_lists.';
    COMMENT ON COLUMN notifications.missed IS
      'The campaign, the number of missed ticks, the first and the last, and their state.';
    COMMENT ON COLUMN notifications.refused IS 'As in ticks.';
    COMMENT ON COLUMN notifications.reason IS
      'As in runs.state_reason or ticks.reason. Of a refused run, a string has the words of the planner.';
    COMMENT ON COLUMN notifications.state IS
      'due: a process that notifies may acquire it. acknowledged: the target has it. given up: it could not be '
      'delivered, and Volley does not retry it.';
    COMMENT ON COLUMN notifications.due_at IS
      'Not acquired before this time. The acquiring process moves it on, so that the row is due again if that '
      'process ends.';
    COMMENT ON COLUMN notifications.acquisitions IS 'Counts acquisitions: fences each from the next.';
    COMMENT ON COLUMN notifications.attempts IS 'Counts attempts.';
    COMMENT ON COLUMN notifications.body IS 'The body of the first attempt; later attempts repeat it.';
    COMMENT ON COLUMN notifications.problem IS 'Why it is not delivered.';
    COMMENT ON COLUMN notifications.ended_at IS 'When it was acknowledged or given up.';
    COMMENT ON COLUMN notifications.mail_run IS 'The run that sends the e-mail.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE notifications, notify_lists');
}
