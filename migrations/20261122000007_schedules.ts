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
      recorded_until timestamptz NOT NULL
    );
    COMMENT ON TABLE schedules IS 'Campaigns that run by themselves.';
    COMMENT ON COLUMN schedules.schedule IS 'The path of the campaign file in the folder of campaigns.';
    COMMENT ON COLUMN schedules.times IS 'The schedule of the campaign, as it was read.';
    COMMENT ON COLUMN schedules.notify IS 'Targets that are notified of times that made no run.';
    COMMENT ON COLUMN schedules.active IS 'False: the campaign file is gone, or has no schedule any more.';
    COMMENT ON COLUMN schedules.recorded_until IS 'Every time of the schedule until then is in ticks.';

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
    COMMENT ON TABLE ticks IS 'Each time at which a schedule was to make a run, once it has come.';
    COMMENT ON COLUMN ticks.state IS
      'due: noted by a process that keeps schedules; it waits for its run. started: set in the transaction that '
      'makes the run. skipped: an earlier run of the schedule is not over, or nothing is new to send. missed: its '
      'time had passed for too long, or the ledger was restored since. failed: the run could not be planned, or was '
      'refused.';
    COMMENT ON COLUMN ticks.reason IS
      'Why it made no run: a string in the words of what planned it; or an object whose kind, with values, is one of '
      'these. no_worker: in time. run_not_over: that of an earlier time. ledger_restored_since: its run may have been '
      'sent by a ledger that is gone.';
    COMMENT ON COLUMN ticks.refused IS
      'For a run that was refused because of its contacts: the campaign, the counts of its contacts and the reason; '
      'no address.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ticks, schedules');
}
