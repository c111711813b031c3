import type { Knex } from 'knex';

const kinds = ['over_frequency', 'over_daily_limit'];

const described =
  ' over_frequency: the address would get more than most messages within number milliseconds; source says whether the cap ' +
  'is of the account or of the project. over_daily_limit: the account would have more than most recipients in the day.';

/** Contacts that are left out because of a cap on messages of an address, or on recipients a day. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE rejected_contacts ADD COLUMN most integer');
  await changeKinds(knex, (listed) => [...listed, ...kinds]);
  await changeComment(knex, (comment) => comment + described);
  await knex.raw(`
    COMMENT ON COLUMN rejected_contacts.source IS 'As in suppressions; of over_frequency: account or project.';
    COMMENT ON COLUMN rejected_contacts.most IS 'What the cap allows.';
  `);
}

/** Contacts of these kinds stay, with the reason erased as by a purge. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE rejected_contacts
    SET kind = NULL, message = '', source = NULL, number = NULL, related_run = NULL
    WHERE kind IN ('over_frequency', 'over_daily_limit');
    ALTER TABLE rejected_contacts DROP COLUMN most;
    COMMENT ON COLUMN rejected_contacts.source IS 'As in suppressions.';
  `);
  await changeKinds(knex, (listed) => listed.filter((kind) => !kinds.includes(kind)));
  await changeComment(knex, (comment) => comment.replace(described, ''));
}

/** Changes the kinds that the constraint has now, because other migrations add theirs in any order. */
async function changeKinds(
  knex: Knex,
  change: (kinds: readonly string[]) => readonly string[],
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { readonly kind: string }[] }>(`
    SELECT literal[1] AS kind
    FROM pg_constraint c
    CROSS JOIN LATERAL regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''', 'g') WITH ORDINALITY AS found (literal, place)
    WHERE c.conrelid = CAST('rejected_contacts' AS regclass) AND c.conname = 'rejected_contacts_kind_check'
    ORDER BY place
  `);
  const list = change(rows.map(({ kind }) => kind)).map((kind) => `'${kind}'`);
  await knex.raw(`
    ALTER TABLE rejected_contacts
      DROP CONSTRAINT rejected_contacts_kind_check,
      ADD CONSTRAINT rejected_contacts_kind_check CHECK (kind IN (${list.join(', ')}));
  `);
}

async function changeComment(knex: Knex, change: (comment: string) => string): Promise<void> {
  const { rows } = await knex.raw<{ rows: { readonly comment: string }[] }>(`
    SELECT col_description(attrelid, attnum) AS comment
    FROM pg_attribute
    WHERE attrelid = CAST('rejected_contacts' AS regclass) AND attname = 'kind'
  `);
  const comment = change(rows[0]?.comment ?? '').replaceAll("'", "''");
  await knex.raw(`COMMENT ON COLUMN rejected_contacts.kind IS '${comment}'`);
}
