import type { Knex } from 'knex';

/**
 * Who is told what became of runs and schedules, and what is still to be told. Triggers note it, in the transaction that
 * makes it so, because several transactions complete and pause a run and none may be forgotten; it is noted once for each
 * change, so a run that is paused twice tells it twice.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Of runs whose campaign has a notify, as it was when the run was planned: names of secrets, never secrets.
    CREATE TABLE notify_lists (
      run_id  text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      targets jsonb NOT NULL,
      -- Absolute, on the machine that planned the run; null for a run that was made from one of elsewhere.
      campaign_file text
    );

    ALTER TABLE schedules ADD COLUMN notify jsonb NOT NULL DEFAULT '[]';

    CREATE TABLE notifications (
      notification  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      -- What it is about: a change of a run, or a time of a schedule that made no run.
      run_id        text REFERENCES runs ON DELETE CASCADE,
      change        bigint,
      schedule      text REFERENCES schedules ON DELETE CASCADE,
      tick          timestamptz,
      -- The place in the list of targets.
      place         integer NOT NULL,
      event         text NOT NULL CHECK (event IN ('completed', 'failures', 'paused', 'missed')),
      target        jsonb NOT NULL,
      campaign_file text,
      -- Of a schedule: how many times, the first of them, what became of the last.
      missed        jsonb,
      reason        text,
      noted_at      timestamptz NOT NULL,
      state         text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'told', 'given up')),
      -- Whoever takes it moves this on; a process that dies with it has it be due again then.
      due_at        timestamptz NOT NULL DEFAULT '-infinity',
      -- Told from every other taking of it.
      takings       integer NOT NULL DEFAULT 0,
      attempts      integer NOT NULL DEFAULT 0,
      -- What is told, as it was put together for the first attempt: each attempt tells the same.
      body          text,
      -- Why it was not told yet, or never will be.
      problem       text,
      ended_at      timestamptz,
      -- The run of its own that an e-mail is.
      mail_run      text,
      CHECK ((run_id IS NULL) = (change IS NULL)),
      CHECK ((schedule IS NULL) = (tick IS NULL)),
      CHECK ((run_id IS NULL) <> (schedule IS NULL)),
      CHECK ((state = 'due') = (ended_at IS NULL)),
      UNIQUE (run_id, change, place),
      UNIQUE (schedule, tick, place)
    );
    CREATE INDEX notifications_due ON notifications (due_at) WHERE state = 'due';
    CREATE INDEX notifications_given_up ON notifications (state) WHERE state = 'given up';
    CREATE UNIQUE INDEX notifications_mail_run ON notifications (mail_run) WHERE mail_run IS NOT NULL;

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
    CREATE TRIGGER run_state_is_told AFTER INSERT ON run_states FOR EACH ROW
      WHEN (NEW.state IN ('completed', 'paused'))
      EXECUTE FUNCTION note_run_notifications();

    -- After a long time without a worker a schedule has missed many times at once: they are told together. Why a run could
    -- not be planned may quote a contact file, so it stays where it is.
    CREATE FUNCTION utc_text(moment timestamptz) RETURNS text LANGUAGE sql AS $$
      SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    $$;
    CREATE FUNCTION note_missed_ticks(of_schedule text, what text, how_many bigint, first timestamptz, last timestamptz,
                                      words text) RETURNS void LANGUAGE sql AS $$
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
    CREATE FUNCTION note_ended_tick() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM note_missed_ticks(NEW.schedule, NEW.state, 1, NEW.due_at, NEW.due_at, NEW.reason);
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER new_ticks_are_told AFTER INSERT ON ticks
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_new_ticks();
    CREATE TRIGGER ended_tick_is_told AFTER UPDATE ON ticks FOR EACH ROW
      WHEN (OLD.state = 'due' AND NEW.state IN ('missed', 'failed'))
      EXECUTE FUNCTION note_ended_tick();
  `);
}

/** What is still to be told is not told. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER ended_tick_is_told ON ticks;
    DROP TRIGGER new_ticks_are_told ON ticks;
    DROP TRIGGER run_state_is_told ON run_states;
    DROP FUNCTION note_ended_tick, note_new_ticks, note_missed_ticks, utc_text, note_run_notifications;
    DROP TABLE notifications, notify_lists;
    ALTER TABLE schedules DROP COLUMN notify;
  `);
}
