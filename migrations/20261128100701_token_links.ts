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
  'account moved',
];

/** A link with which a person gets their token, once. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE tokens
      ADD COLUMN link_sha256 bytea UNIQUE CHECK (octet_length(link_sha256) = 32),
      ADD COLUMN link_expires_at timestamptz,
      ADD COLUMN link_used_at timestamptz,
      ADD CHECK ((link_sha256 IS NULL) = (link_expires_at IS NULL)),
      ADD CHECK (link_used_at IS NULL OR link_sha256 IS NOT NULL);
    COMMENT ON COLUMN tokens.link_sha256 IS
      'Of the secret of the link with which the person gets the token; null: it was shown to its maker. Until the '
      'link is used, sha256 is of a token that nobody has.';
    COMMENT ON COLUMN tokens.link_expires_at IS 'The link is refused from then on.';
    COMMENT ON COLUMN tokens.link_used_at IS 'It works once.';
  `);
  await replaceActions(knex, [...before, 'token link used']);
}

/** Entries are never removed, so those of used links stay. */
export async function down(knex: Knex): Promise<void> {
  await replaceActions(knex, before, 'NOT VALID');
  await knex.raw(
    'ALTER TABLE tokens DROP COLUMN link_used_at, DROP COLUMN link_expires_at, DROP COLUMN link_sha256',
  );
}

async function replaceActions(knex: Knex, actions: readonly string[], how = ''): Promise<void> {
  const list = actions.map((action) => `'${action}'`).join(', ');
  await knex.raw(`
    ALTER TABLE audit
      DROP CONSTRAINT audit_action_check,
      ADD CONSTRAINT audit_action_check CHECK (action IN (${list})) ${how};
  `);
}
