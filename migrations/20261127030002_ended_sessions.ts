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
];

/** An entry in the audit trail for a session that a person ended elsewhere. */
export async function up(knex: Knex): Promise<void> {
  await replaceActions(knex, [...before, 'session ended']);
}

/** Entries are never removed, so those of ended sessions stay. */
export async function down(knex: Knex): Promise<void> {
  await replaceActions(knex, before, 'NOT VALID');
}

async function replaceActions(knex: Knex, actions: readonly string[], how = ''): Promise<void> {
  const list = actions.map((action) => `'${action}'`).join(', ');
  await knex.raw(`
    ALTER TABLE audit
      DROP CONSTRAINT audit_action_check,
      ADD CONSTRAINT audit_action_check CHECK (action IN (${list})) ${how};
  `);
}
