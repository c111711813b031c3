import type { Knex } from 'knex';

/**
 * A run that was refused because of its contacts is reported as what becomes of runs is: there is no run that a trigger of
 * its states could note it of. A time of a schedule whose run was refused has one notification for a target, whether the
 * target asks for refused runs or for missed times.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The campaign, the counts of its contacts and the reason; no address.
    ALTER TABLE ticks ADD COLUMN refused jsonb;
    ALTER TABLE notifications
      ADD COLUMN refused jsonb,
      DROP CONSTRAINT notifications_event_check,
      ADD CONSTRAINT notifications_event_check
        CHECK (event IN ('completed', 'failures', 'paused', 'missed', 'refused')),
      DROP CONSTRAINT notifications_check2,
      ADD CONSTRAINT notification_subject CHECK (num_nonnulls(run_id, schedule) = 1 OR (refused IS NOT NULL AND run_id IS NULL));

    CREATE OR REPLACE FUNCTION note_ended_tick() RETURNS trigger LANGUAGE plpgsql AS $$
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
  `);
}

/** What is to be told of refused runs is forgotten. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION note_ended_tick() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM note_missed_ticks(NEW.schedule, NEW.state, 1, NEW.due_at, NEW.due_at, NEW.reason);
      RETURN NULL;
    END
    $$;
    DELETE FROM notifications WHERE event = 'refused';
    ALTER TABLE notifications
      DROP CONSTRAINT notification_subject,
      ADD CONSTRAINT notifications_check2 CHECK ((run_id IS NULL) <> (schedule IS NULL)),
      DROP CONSTRAINT notifications_event_check,
      ADD CONSTRAINT notifications_event_check CHECK (event IN ('completed', 'failures', 'paused', 'missed')),
      DROP COLUMN refused;
    ALTER TABLE ticks DROP COLUMN refused;
  `);
}
