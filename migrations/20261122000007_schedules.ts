import type { Knex } from 'knex';

/** Campaigns that run by themselves, and each time at which one of them was to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE schedules (
      schedule    text PRIMARY KEY,
      campaign    text NOT NULL,
      times       jsonb NOT NULL,
      notify      jsonb NOT NULL DEFAULT '[]',
      active      boolean NOT NULL,
      noted_until timestamptz NOT NULL
    );

    CREATE TABLE ticks (
      schedule text NOT NULL REFERENCES schedules ON DELETE CASCADE,
      due_at   timestamptz NOT NULL,
      state    text NOT NULL CHECK (state IN ('due', 'started', 'skipped', 'missed', 'failed')),
      run_id   text UNIQUE,
      reason   text,
      refused  jsonb,
      PRIMARY KEY (schedule, due_at),
      CHECK ((state = 'started') = (run_id IS NOT NULL))
    );
    CREATE INDEX ticks_due ON ticks (due_at) WHERE state = 'due';
    CREATE INDEX ticks_newest ON ticks (due_at DESC);
    CREATE INDEX ticks_not_run ON ticks (state) WHERE state IN ('missed', 'failed');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ticks, schedules');
}
