import type { Knex } from 'knex';

/**
 * What a run costs, by payer too: a page of a run reads these sums. Triggers keep them, because processes of Volley
 * 0.3.0 book as well (decision 024).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- In the order of booking, which would deadlock with another.
    LOCK TABLE billing_entries, run_costs IN ACCESS EXCLUSIVE MODE;
    DROP TABLE run_costs;
    CREATE TABLE run_costs (
      run_id        text NOT NULL,
      by            text NOT NULL CHECK (by IN ('run', 'SubAccount', 'ChargeCode')),
      value         text,
      recipients    bigint NOT NULL,
      accepted      bigint NOT NULL,
      price         numeric NOT NULL,
      estimated     numeric NOT NULL,
      estimated_tax numeric NOT NULL,
      unrated       bigint NOT NULL
    ) WITH (fillfactor = 50);
    CREATE UNIQUE INDEX run_costs_key ON run_costs (run_id, by, value) NULLS NOT DISTINCT;
    COMMENT ON TABLE run_costs IS
      'Sums of billing_entries by run, and by its payers, which triggers on billing_entries keep.';
    COMMENT ON COLUMN run_costs.by IS 'run: the whole run. SubAccount, ChargeCode: its recipients with this value.';
    COMMENT ON COLUMN run_costs.value IS 'The SubAccount or ChargeCode; null: the whole run, or recipients without one.';

    CREATE OR REPLACE FUNCTION sum_added_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${addCostsOf('added')}
      RETURN NULL;
    END $$;
    CREATE OR REPLACE FUNCTION sum_changed_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${addCostsOf(`(
        SELECT run_id, sub_account, charge_code, recipients, accepted, price, estimated, estimated_tax, unrated FROM after
        UNION ALL
        SELECT run_id, sub_account, charge_code, -recipients, -accepted, -price, -estimated, -estimated_tax, -unrated
        FROM before
      )`)}
      RETURN NULL;
    END $$;

    INSERT INTO run_costs ${costsOf('billing_entries')};
  `);
}

const costsOf = (entries: string): string => `
      SELECT run_id,
             CASE grouping(sub_account, charge_code) WHEN 3 THEN 'run' WHEN 1 THEN 'SubAccount' ELSE 'ChargeCode' END,
             CASE grouping(sub_account, charge_code) WHEN 1 THEN sub_account WHEN 2 THEN charge_code END,
             sum(recipients), sum(accepted), sum(price), sum(estimated), sum(estimated_tax), sum(unrated)
      FROM ${entries} AS entries
      GROUP BY GROUPING SETS ((run_id), (run_id, sub_account), (run_id, charge_code))`;

const addCostsOf = (entries: string): string => `
      INSERT INTO run_costs AS c ${costsOf(entries)}
      ON CONFLICT (run_id, by, value) DO UPDATE
      SET recipients = c.recipients + excluded.recipients, accepted = c.accepted + excluded.accepted,
          price = c.price + excluded.price, estimated = c.estimated + excluded.estimated,
          estimated_tax = c.estimated_tax + excluded.estimated_tax, unrated = c.unrated + excluded.unrated;`;

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    LOCK TABLE billing_entries, run_costs IN ACCESS EXCLUSIVE MODE;
    DROP TABLE run_costs;
    CREATE TABLE run_costs (
      run_id    text PRIMARY KEY,
      price     numeric NOT NULL,
      estimated numeric NOT NULL
    );
    COMMENT ON TABLE run_costs IS 'Sums of billing_entries by run, which triggers on them keep.';

    CREATE OR REPLACE FUNCTION sum_added_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_costs AS c (run_id, price, estimated)
      SELECT run_id, sum(price), sum(estimated) FROM added GROUP BY run_id ORDER BY run_id
      ON CONFLICT (run_id) DO UPDATE
      SET price = c.price + excluded.price, estimated = c.estimated + excluded.estimated;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE FUNCTION sum_changed_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE run_costs c
      SET price = c.price + d.price, estimated = c.estimated + d.estimated
      FROM (
        SELECT run_id, sum(price) AS price, sum(estimated) AS estimated
        FROM (
          SELECT run_id, price, estimated FROM after UNION ALL SELECT run_id, -price, -estimated FROM before
        ) AS change
        GROUP BY run_id
      ) d
      WHERE c.run_id = d.run_id;
      RETURN NULL;
    END $$;

    INSERT INTO run_costs (run_id, price, estimated)
    SELECT run_id, sum(price), sum(estimated) FROM billing_entries GROUP BY run_id;
  `);
}
