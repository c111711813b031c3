import type { Knex } from 'knex';

/**
 * Addresses that must not be sent to, and recipients that were left out of their request because they were suppressed
 * after the run was planned. Addresses are compared byte by byte, so their index needs no language's order.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      address     text COLLATE "C" NOT NULL,
      sub_account text NOT NULL DEFAULT '',
      reason      text NOT NULL,
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, sub_account)
    );
    -- One SubAccount's own among millions that are for all.
    CREATE INDEX suppressions_sub_account ON suppressions (sub_account, channel, address) WHERE sub_account <> '';

    ALTER TABLE recipients
      DROP CONSTRAINT recipients_outcome_check,
      ADD CONSTRAINT recipients_outcome_check CHECK (outcome IN ('delivered', 'undelivered', 'cancelled'));
  `);
}

/**
 * The earlier table cannot say that one recipient of a request was left out: it becomes undelivered, in the same words,
 * without units and price. Recipients of a cancelled request follow it again.
 */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE recipients r
    SET outcome = CASE WHEN q.state = 'cancelled' THEN NULL ELSE 'undelivered' END,
        result = CASE WHEN q.state = 'cancelled' THEN NULL ELSE r.result END
    FROM requests q
    WHERE r.outcome = 'cancelled' AND q.run_id = r.run_id AND q.request = r.request;

    ALTER TABLE recipients
      DROP CONSTRAINT recipients_outcome_check,
      ADD CONSTRAINT recipients_outcome_check CHECK (outcome IN ('delivered', 'undelivered'));

    DROP TABLE suppressions;
  `);
}
