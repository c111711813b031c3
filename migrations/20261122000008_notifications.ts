import type { Knex } from 'knex';

/**
 * Notifications of what became of runs and schedules. Triggers note them, in the transaction that makes it so, because
 * several transactions complete and pause a run and none may be forgotten; one is noted for each change, so a run that
 * is paused twice is reported twice.
 */
export async function up(knex: Knex): Promise<void> {
  await makeLists(knex);
  await makeNotifications(knex);
  await noteRuns(knex);
  await noteTicks(knex);
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
      place         integer NOT NULL,
      event         text NOT NULL CHECK (event IN
                      ('completed', 'failures', 'paused', 'missed', 'refused')),
      target        jsonb NOT NULL,
      campaign_file text,
      missed        jsonb,
      refused       jsonb,
      reason        text,
      noted_at      timestamptz NOT NULL,
      state         text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'told', 'given up')),
      due_at        timestamptz NOT NULL DEFAULT '-infinity',
      takings       integer NOT NULL DEFAULT 0,
      attempts      integer NOT NULL DEFAULT 0,
      body          text,
      problem       text,
      ended_at      timestamptz,
      mail_run      text,
      CHECK ((run_id IS NULL) = (change IS NULL)),
      CHECK ((schedule IS NULL) = (tick IS NULL)),
      CHECK (num_nonnulls(run_id, schedule) = 1 OR (refused IS NOT NULL AND run_id IS NULL)),
      CHECK ((state = 'due') = (ended_at IS NULL)),
      UNIQUE (run_id, change, place),
      UNIQUE (schedule, tick, place)
    );
    CREATE INDEX notifications_due ON notifications (due_at) WHERE state = 'due';
    CREATE INDEX notifications_given_up ON notifications (state) WHERE state = 'given up';
    CREATE UNIQUE INDEX notifications_mail_run ON notifications (mail_run) WHERE mail_run IS NOT NULL;
    COMMENT ON TABLE notifications IS
      'One row for each event and target. It is about a change of a run (run_id and change), about a time of a '
      'schedule that made no run (schedule and tick), or about a run that was refused (refused).';
    COMMENT ON COLUMN notifications.change IS 'The row of run_states.';
    COMMENT ON COLUMN notifications.tick IS 'The row of ticks; of several that were missed at once, the last one.';
    COMMENT ON COLUMN notifications.place IS 'In the list of targets.';
    COMMENT ON COLUMN notifications.event IS
      'completed: all requests of the run were accepted. failures: the run is over, with requests that were '
      'rejected, failed, are in doubt or were abandoned. paused: the run was paused. missed: a time of the schedule '
      'made no run. refused: a run was refused because of its contacts.';
    COMMENT ON COLUMN notifications.target IS 'As in notify_lists.';
    COMMENT ON COLUMN notifications.missed IS
      'The campaign, how many times of the schedule were missed, the first and the last, and what became of them.';
    COMMENT ON COLUMN notifications.refused IS 'As in ticks.';
    COMMENT ON COLUMN notifications.state IS
      'due: noted by a trigger, or when a run is refused; a process that notifies takes it. told: the target has '
      'it. given up: it could not be delivered, and is not tried again.';
    COMMENT ON COLUMN notifications.due_at IS
      'Not to be taken before. The process that takes it moves this on: if it dies, the row is due again then.';
    COMMENT ON COLUMN notifications.takings IS 'How often it was taken: fences one taking from the next.';
    COMMENT ON COLUMN notifications.attempts IS 'How often it was tried.';
    COMMENT ON COLUMN notifications.body IS 'As it was made for the first attempt: each attempt says the same.';
    COMMENT ON COLUMN notifications.problem IS 'Why it was not delivered yet, or never will be.';
    COMMENT ON COLUMN notifications.ended_at IS 'When it was delivered or given up.';
    COMMENT ON COLUMN notifications.mail_run IS 'The run by which an e-mail is sent.';
  `);
}

async function noteRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION note_run_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      happened text := 'paused';
    BEGIN
      IF NOT EXISTS (SELECT FROM notify_lists WHERE run_id = NEW.run_id) THEN RETURN NULL; END IF;
      IF NEW.state = 'completed' THEN
        -- Only slices that have counted something else than acceptance are looked into: a run may have millions of requests.
        SELECT CASE WHEN EXISTS (
                 SELECT FROM slices s
                 JOIN requests q ON q.run_id = s.run_id AND q.request BETWEEN s.first_request AND s.last_request
                 WHERE s.run_id = NEW.run_id AND s.slice > 0 AND (s.rejected > 0 OR s.not_accepted > 0)
                   AND q.state IN ('rejected', 'failed', 'in_doubt', 'abandoned')
               ) THEN 'failures' ELSE 'completed' END
        INTO happened;
      END IF;
      INSERT INTO notifications (run_id, change, place, event, target, campaign_file, reason, noted_at)
      SELECT NEW.run_id, NEW.change, place, happened, target, campaign_file, NEW.reason, NEW.changed_at
      FROM notify_lists, jsonb_array_elements(targets) WITH ORDINALITY AS each (target, place)
      WHERE run_id = NEW.run_id AND target -> 'on' @> to_jsonb(happened);
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER run_state_is_told AFTER INSERT ON run_states
      FOR EACH ROW WHEN (NEW.state IN ('completed', 'paused'))
      EXECUTE FUNCTION note_run_notifications();
  `);
}

/**
 * After a long time without a worker a schedule has missed many times at once: one notification is noted for all of them.
 * Why a run could not be planned may quote a contact file, so it stays where it is. A time whose run was refused because
 * of its contacts has one notification for a target, whether the target asks for refused runs or for missed times.
 */
async function noteTicks(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION utc_text(moment timestamptz) RETURNS text LANGUAGE sql AS $$
      SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    $$;

    CREATE FUNCTION note_missed_ticks(
      of_schedule text, what text, how_many bigint, first timestamptz, last timestamptz, words text
    ) RETURNS void LANGUAGE sql AS $$
      INSERT INTO notifications (schedule, tick, place, event, target, missed, reason, noted_at)
      SELECT schedule, last, place, 'missed', target,
             jsonb_build_object('campaign', campaign, 'times', how_many, 'from', utc_text(first),
                                'until', utc_text(last), 'state', what),
             CASE what WHEN 'missed' THEN words ELSE 'it could not be planned; volley schedule list says why' END,
             now()
      FROM schedules, jsonb_array_elements(notify) WITH ORDINALITY AS each (target, place)
      WHERE schedule = of_schedule AND target -> 'on' @> '"missed"'
    $$;

    CREATE FUNCTION note_new_ticks() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM note_missed_ticks(schedule, state, count(*), min(due_at), max(due_at), max(reason))
      FROM changed
      WHERE state IN ('missed', 'failed')
      GROUP BY schedule, state;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER new_ticks_are_told AFTER INSERT ON ticks
      REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION note_new_ticks();

    CREATE FUNCTION note_ended_tick() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.refused IS NULL THEN
        PERFORM note_missed_ticks(NEW.schedule, NEW.state, 1, NEW.due_at, NEW.due_at, NEW.reason);
        RETURN NULL;
      END IF;
      INSERT INTO notifications (schedule, tick, place, event, target, missed, refused, reason, noted_at)
      SELECT schedule, NEW.due_at, place,
             CASE WHEN target -> 'on' @> '"refused"' THEN 'refused' ELSE 'missed' END, target,
             jsonb_build_object('campaign', campaign, 'times', 1, 'from', utc_text(NEW.due_at),
                                'until', utc_text(NEW.due_at), 'state', NEW.state),
             NEW.refused, NEW.refused ->> 'reason', now()
      FROM schedules, jsonb_array_elements(notify) WITH ORDINALITY AS each (target, place)
      WHERE schedule = NEW.schedule AND (target -> 'on' @> '"refused"' OR target -> 'on' @> '"missed"');
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER ended_tick_is_told AFTER UPDATE ON ticks
      FOR EACH ROW WHEN (OLD.state = 'due' AND NEW.state IN ('missed', 'failed'))
      EXECUTE FUNCTION note_ended_tick();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    -- With their triggers, which are on tables of other areas.
    DROP FUNCTION note_run_notifications, note_new_ticks, note_ended_tick CASCADE;
    DROP FUNCTION note_missed_ticks, utc_text;
    DROP TABLE notifications, notify_lists;
  `);
}
