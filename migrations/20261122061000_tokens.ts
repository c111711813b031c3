import type { Knex } from 'knex';

/** Who may use the API, and what was started with it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE tokens (
      -- Never used again, so that the audit trail means one token by it.
      name         text        PRIMARY KEY,
      -- The person it stands for.
      owner        text        NOT NULL,
      scope        text        NOT NULL CHECK (scope IN ('read', 'run', 'admin')),
      sha256       bytea       NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
      created_at   timestamptz NOT NULL,
      expires_at   timestamptz,
      revoked_at   timestamptz,
      -- To the minute.
      last_used_at timestamptz
    );

    -- A run is made in the transaction that writes its row: a repeated call finds it.
    CREATE TABLE started_by_key (
      token   text  NOT NULL REFERENCES tokens,
      key     text  NOT NULL,
      -- Of what was asked for: another call with the same key is a mistake.
      request bytea NOT NULL,
      run_id  text  NOT NULL UNIQUE,
      PRIMARY KEY (token, key)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE started_by_key, tokens');
}
