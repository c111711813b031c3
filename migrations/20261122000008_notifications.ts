import type { Knex } from 'knex';

/** Notifications of what became of runs and schedules. */
export async function up(knex: Knex): Promise<void> {
  await makeLists(knex);
  await makeNotifications(knex);
}

async function makeLists(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE notify_lists (
      run_id        text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      targets       jsonb NOT NULL,
      campaign_file text
    );
    COMMENT ON TABLE notify_lists IS
      'Targets that are notified of a run, as the campaign had them when the run was planned. Names of secrets, '
      'never secrets.';
    COMMENT ON COLUMN notify_lists.campaign_file IS 'An absolute path on the machine that planned the run.';
  `);
}

async function makeNotifications(knex: Knex): Promise<void> {
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
      created_at      timestamptz NOT NULL,
      state         text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'acknowledged', 'given up')),
      due_at        timestamptz NOT NULL DEFAULT '-infinity',
      acquisitions       integer NOT NULL DEFAULT 0,
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
      'One row for each event and target. It is about a change of a run (run_id and change), about a time of a '
      'schedule that made no run (schedule and tick), or about a run that was refused (refused).';
    COMMENT ON COLUMN notifications.change IS 'The row of run_states.';
    COMMENT ON COLUMN notifications.tick IS 'The row of ticks; of several that were missed at once, the last one.';
    COMMENT ON COLUMN notifications.target_index IS 'In the list of targets.';
    COMMENT ON COLUMN notifications.event IS
      'completed: all requests of the run were accepted. failures: the run is over, with requests that were '
      'rejected, failed, are in doubt or were abandoned. paused: the run was paused. missed: a time of the schedule '
      'made no run. refused: a run was refused because of its contacts.';
    COMMENT ON COLUMN notifications.target IS 'As in notify_lists.';
    COMMENT ON COLUMN notifications.missed IS
      'The campaign, how many times of the schedule were missed, the first and the last, and what became of them.';
    COMMENT ON COLUMN notifications.refused IS 'As in ticks.';
    COMMENT ON COLUMN notifications.reason IS
      'As in runs.state_reason or ticks.reason; of a refused run a string in the words of what planned it.';
    COMMENT ON COLUMN notifications.state IS
      'due: noted with what it is about; a process that notifies takes it. acknowledged: the target has '
      'it. given up: it could not be delivered, and is not tried again.';
    COMMENT ON COLUMN notifications.due_at IS
      'Not to be taken before. The process that takes it moves this on: if it dies, the row is due again then.';
    COMMENT ON COLUMN notifications.acquisitions IS 'How often it was taken: fences one taking from the next.';
    COMMENT ON COLUMN notifications.attempts IS 'How often it was tried.';
    COMMENT ON COLUMN notifications.body IS 'As it was made for the first attempt: each attempt says the same.';
    COMMENT ON COLUMN notifications.problem IS 'Why it was not delivered yet, or never will be.';
    COMMENT ON COLUMN notifications.ended_at IS 'When it was delivered or given up.';
    COMMENT ON COLUMN notifications.mail_run IS 'The run by which an e-mail is sent.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE notifications, notify_lists');
}
