import type { Knex } from 'knex';

/** A run pauses after its canary when a person is to promote it. */
export async function up(knex: Knex): Promise<void> {
  await replaceLists(knex, `'winner'::text`, `'winner'::text, 'canary waits'::text`);
  await replaceRunReason(knex, `'canary_stopped'::text`, `'canary_stopped'::text, 'canary_waits'::text`);
  await replaceComments(knex, (comment, added) => comment + added);
}

/** Decisions about a run that waited are removed: no kind is left for them. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM run_decisions WHERE kind = 'canary waits';
    UPDATE runs SET state_reason = state_reason -> 'kind' WHERE state_reason ->> 'kind' = 'canary_waits';
    UPDATE run_states SET reason = reason -> 'kind' WHERE reason ->> 'kind' = 'canary_waits';
    UPDATE notifications SET reason = reason -> 'kind' WHERE reason ->> 'kind' = 'canary_waits';
  `);
  await replaceLists(knex, `, 'canary waits'::text`, '');
  await replaceRunReason(knex, `, 'canary_waits'::text`, '');
  await replaceComments(knex, (comment, added) => comment.replace(added, ''));
}

const ofReason = ' canary_waits: its canary is within its limits, and a person is to promote it.';
const ofDecision = ' canary waits: the run is paused until a person promotes it.';

/** Changes the list that is there now, because other migrations add theirs in any order. */
async function replaceLists(knex: Knex, old: string, changed: string): Promise<void> {
  await knex.raw(
    `
    DO $do$
    DECLARE
      list text;
    BEGIN
      SELECT replace(pg_get_constraintdef(oid), ${literal(old)}, ${literal(changed)}) INTO list
      FROM pg_constraint
      WHERE conrelid = CAST('run_decisions' AS regclass) AND conname = 'run_decisions_kind_check';
      ALTER TABLE run_decisions DROP CONSTRAINT run_decisions_kind_check;
      EXECUTE 'ALTER TABLE run_decisions ADD CONSTRAINT run_decisions_kind_check ' || list;
    END $do$
    `,
  );
}

async function replaceRunReason(knex: Knex, old: string, changed: string): Promise<void> {
  await knex.raw(`
    DO $do$
    BEGIN
      EXECUTE replace(pg_get_functiondef(CAST('is_run_reason' AS regproc)), ${literal(old)}, ${literal(changed)});
    END $do$
  `);
}

async function replaceComments(
  knex: Knex,
  change: (comment: string, added: string) => string,
): Promise<void> {
  for (const [table, column, added] of [
    ['runs', 'state_reason', ofReason],
    ['run_decisions', 'kind', ofDecision],
  ] as const) {
    const { rows } = await knex.raw<{ rows: { readonly comment: string }[] }>(`
      SELECT col_description(attrelid, attnum) AS comment
      FROM pg_attribute
      WHERE attrelid = CAST('${table}' AS regclass) AND attname = '${column}'
    `);
    await knex.raw(
      `COMMENT ON COLUMN ${table}.${column} IS ${literal(change(rows[0]?.comment ?? '', added))}`,
    );
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
