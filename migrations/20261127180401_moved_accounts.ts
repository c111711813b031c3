import type { Knex } from 'knex';

const before = [
  'run planned',
  'run started',
  'run resumed',
  'run paused',
  'run cancelled',
  'run approved',
  'run purged',
  'purged',
  'requests resolved',
  'delivery reports replayed',
  'billing closed',
  'limits set',
  'suppressions added',
  'suppressions removed',
  'token created',
  'token revoked',
  'ledger restored',
  'session ended',
];

/** An account that moves to another ledger gets no further run in this one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE moved_accounts (
      account  text PRIMARY KEY,
      cell     text NOT NULL,
      moved_at timestamptz NOT NULL
    );
    COMMENT ON TABLE moved_accounts IS 'Accounts that have moved to another cell. No run of them is planned here.';
    COMMENT ON COLUMN moved_accounts.cell IS 'The cell that has the account, by its name in the file of the cells.';

    CREATE TABLE forwarded_reports (
      report_id    bigint PRIMARY KEY,
      cell         text NOT NULL,
      forwarded_at timestamptz NOT NULL
    );
    COMMENT ON TABLE forwarded_reports IS
      'Delivery reports that arrived here, and belong to runs of another cell, which has got them.';
    COMMENT ON COLUMN forwarded_reports.report_id IS 'No foreign key: the row outlives the report.';
    COMMENT ON COLUMN forwarded_reports.cell IS 'By its name in the file of the cells.';
  `);
  await replaceActions(knex, [...before, 'account moved']);
}

/** Entries are never removed, so those of moved accounts stay. */
export async function down(knex: Knex): Promise<void> {
  await replaceActions(knex, before, 'NOT VALID');
  await knex.raw('DROP TABLE moved_accounts, forwarded_reports');
}

async function replaceActions(knex: Knex, actions: readonly string[], how = ''): Promise<void> {
  const list = actions.map((action) => `'${action}'`).join(', ');
  await knex.raw(`
    ALTER TABLE audit
      DROP CONSTRAINT audit_action_check,
      ADD CONSTRAINT audit_action_check CHECK (action IN (${list})) ${how};
  `);
}
