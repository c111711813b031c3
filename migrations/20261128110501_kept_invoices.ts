import type { Knex } from 'knex';

/** An entry in the audit trail for what came of comparing an invoice, and an index for the requests of a ChargeCode. */
export async function up(knex: Knex): Promise<void> {
  await replaceActions(knex, (actions) => [...actions, 'invoice kept']);
  // Of 1,000,000 entries, those of a ChargeCode in a month: 10 ms instead of 300 ms.
  await knex.raw('CREATE INDEX billing_entries_charge_code ON billing_entries (charge_code, run_id, slice)');
}

/** Entries are never removed, so those of kept invoices stay. */
export async function down(knex: Knex): Promise<void> {
  await replaceActions(knex, (actions) => actions.filter((action) => action !== 'invoice kept'), 'NOT VALID');
  await knex.raw('DROP INDEX billing_entries_charge_code');
}

/** Changes the actions that the constraint has now, because other migrations add theirs in any order. */
async function replaceActions(
  knex: Knex,
  change: (actions: readonly string[]) => readonly string[],
  how = '',
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { readonly action: string }[] }>(`
    SELECT literal[1] AS action
    FROM pg_constraint c
    CROSS JOIN LATERAL regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''', 'g') WITH ORDINALITY AS found (literal, place)
    WHERE c.conrelid = CAST('audit' AS regclass) AND c.conname = 'audit_action_check'
    ORDER BY place
  `);
  const list = change(rows.map(({ action }) => action)).map((action) => `'${action}'`);
  await knex.raw(`
    ALTER TABLE audit
      DROP CONSTRAINT audit_action_check,
      ADD CONSTRAINT audit_action_check CHECK (action IN (${list.join(', ')})) ${how};
  `);
}
