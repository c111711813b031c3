import type { Knex } from 'knex';

/** Schedules of campaigns, and their ticks. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE schedules (
      schedule       text PRIMARY KEY,
      campaign       text NOT NULL,
      times          jsonb NOT NULL,
      notify         jsonb NOT NULL DEFAULT '[]',
      active         boolean NOT NULL,
      recorded_until timestamptz NOT NULL
    );
    COMMENT ON TABLE schedules IS 'Campaigns that run on a schedule.';
    COMMENT ON COLUMN schedules.schedule IS 'Path of the campaign file in the campaign folder.';
    COMMENT ON COLUMN schedules.times IS 'The campaign''s schedule, as read.';
    COMMENT ON COLUMN schedules.notify IS 'Targets to notify of ticks without a run.';
    COMMENT ON COLUMN schedules.active IS 'False: the campaign file is missing, or has no schedule any more.';
    COMMENT ON COLUMN schedules.recorded_until IS 'Ticks up to this time are in ticks.';

    CREATE TABLE ticks (
      schedule text NOT NULL REFERENCES schedules ON DELETE CASCADE,
      due_at   timestamptz NOT NULL,
      state    text NOT NULL CHECK (state IN ('due', 'started', 'skipped', 'missed', 'failed')),
      run_id   text UNIQUE,
      reason   jsonb CHECK (reason ->> 'kind' IN ('no_worker', 'run_not_over', 'ledger_restored_since')),
      refused  jsonb,
      PRIMARY KEY (schedule, due_at),
      CHECK ((state = 'started') = (run_id IS NOT NULL))
    );
    CREATE INDEX ticks_due ON ticks (due_at) WHERE state = 'due';
    CREATE INDEX ticks_newest ON ticks (due_at DESC);
    CREATE INDEX ticks_not_run ON ticks (state) WHERE state IN ('missed', 'failed');
    COMMENT ON TABLE ticks IS 'Times at which a schedule was due to make a run.';
    COMMENT ON COLUMN ticks.state IS
      'due: a process that watches schedules recorded it, and it waits for its run. started: its run exists. '
      'skipped: an earlier run of the schedule is unfinished, or there is nothing new to send. missed: no worker '
      'started it in time, or the ledger was restored since. failed: the run could not be planned, or was refused.';
    COMMENT ON COLUMN ticks.reason IS
      'Why it has no run. A string has the words of the planner. An object has a kind, and values. no_worker: no '
      'worker ran in time. run_not_over: the run of an earlier tick is unfinished. ledger_restored_since: another '
      'copy of the ledger may have sent its run.';
    COMMENT ON COLUMN ticks.refused IS
      'Of a run refused because of its contacts: the campaign, the counts of its contacts and the reason, without '
      'addresses.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ticks, schedules');
}
