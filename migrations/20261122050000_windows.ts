import type { Knex } from 'knex';

/**
 * Sending windows of runs. Recipients whose window goes by the same time zones are in requests of their own, with numbers in
 * a row, and slices end where those do; so a slice has one window. Runs without windows have no row here.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_windows (
      run_id    text NOT NULL REFERENCES runs ON DELETE CASCADE,
      -- In the order of the requests.
      place     smallint NOT NULL,
      -- Names of the IANA database: the window is open while it is in each of them.
      zones     text[] NOT NULL,
      -- When the service is told to send, where it is; its requests are handed over before.
      send_at   timestamptz,
      -- Not to be taken before; NULL: as far as anybody knows, it may be.
      opens_at  timestamptz,
      -- When what may be taken now may not be any more: what ends first is taken first.
      shuts_at  timestamptz,
      PRIMARY KEY (run_id, place)
    );
    CREATE INDEX run_windows_opening ON run_windows (opens_at) WHERE opens_at IS NOT NULL;
    ALTER TABLE envelopes ADD COLUMN window_place smallint;
    ALTER TABLE slices ADD COLUMN window_place smallint;
  `);
}

/** Runs that wait for a window go on at once, at whatever time, so they are paused. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE runs
    SET state = 'paused', state_reason = 'its sending windows are not known any more'
    WHERE state = 'running' AND run_id IN (SELECT run_id FROM run_windows);
    ALTER TABLE slices DROP COLUMN window_place;
    ALTER TABLE envelopes DROP COLUMN window_place;
    DROP TABLE run_windows;
  `);
}
