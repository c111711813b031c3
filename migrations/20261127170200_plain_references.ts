import type { Knex } from 'knex';

/**
 * Nothing deletes a run or a schedule, so no reference cascades: a DELETE by hand is refused, instead of taking bookings
 * along. And the kinds of a reason are listed in one function, however many tables have such reasons.
 *
 * The new constraints are not compared with old rows here, where other processes wait: the former ones held. The next
 * migration compares them.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await replaceReferences(knex, `confdeltype = 'c'`, '');
  for (const [name, { kinds, explained }] of Object.entries(lists))
    await knex.raw(`
      CREATE FUNCTION ${name}(reason jsonb) RETURNS boolean
      LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN reason ->> 'kind' IN (${literals(kinds)});
      COMMENT ON FUNCTION ${name} IS
        'Whether an object has one of these kinds, which the comment of ${explained} explains; null: it has no kind.';
    `);
  for (const [table, column, functions] of checks)
    await replaceCheck(knex, table, column, functions.map((name) => `${name}(${column})`).join(' OR '));
}

export async function down(knex: Knex): Promise<void> {
  await lockTables(knex);
  await replaceReferences(
    knex,
    `confrelid IN (to_regclass('runs'), to_regclass('schedules'), to_regclass('contact_files')) AND conname <> 'runs_source_run_fkey'`,
    ' ON DELETE CASCADE',
  );
  for (const [table, column, functions] of checks) {
    const kinds = functions.flatMap((name) => lists[name].kinds);
    await replaceCheck(knex, table, column, `${column} ->> 'kind' IN (${literals(kinds)})`);
  }
  await knex.raw(`DROP FUNCTION ${Object.keys(lists).join(', ')}`);
}

const lists = {
  is_run_reason: {
    kinds: [
      'interrupted',
      'waits_for_approval',
      'approved',
      'all_rejected',
      'too_many_rejected',
      'credential_refused',
      'service_refuses',
      'doubts_reopened',
      'ledger_held',
      'ledger_restored',
      'untried_proof',
      'foreign_answers',
    ],
    explained: 'runs.state_reason',
  },
  is_tick_reason: {
    kinds: ['no_worker', 'run_not_over', 'ledger_restored_since'],
    explained: 'ticks.reason',
  },
  is_request_reason: {
    kinds: [
      'job_number',
      'reported',
      'looked_up',
      'worker_ended',
      'resent',
      'run_cancelled',
      'run_cancelled_before_resend',
      'all_suppressed',
      'all_suppressed_before_resend',
      'suppressed',
      'withheld',
      'claim_unanswered',
      'resolved',
      'ledger_restored',
      'untried_proof',
      'repeated_job_number',
    ],
    explained: 'requests.reason',
  },
} as const;

const checks: readonly (readonly [string, string, readonly (keyof typeof lists)[]])[] = [
  ['runs', 'state_reason', ['is_run_reason']],
  ['run_states', 'reason', ['is_run_reason']],
  ['notifications', 'reason', ['is_run_reason', 'is_tick_reason']],
  ['ticks', 'reason', ['is_tick_reason']],
  ['requests', 'reason', ['is_request_reason']],
  ['attempts', 'detail', ['is_request_reason']],
];

const literals = (kinds: readonly string[]): string => kinds.map((kind) => `'${kind}'`).join(', ');

/** Gives up and begins anew when it waits for long: so no process waits for long, and none is in a deadlock. */
async function lockTables(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE
      tables text;
    BEGIN
      SELECT string_agg(CAST(name AS text), ', ') INTO tables
      FROM (
        SELECT conrelid::regclass FROM pg_constraint
        WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
        UNION
        VALUES (to_regclass('runs')), (to_regclass('schedules')), (to_regclass('attempts'))
      ) AS found (name);
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          EXECUTE 'LOCK TABLE ' || tables || ' IN ACCESS EXCLUSIVE MODE';
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
    END $$;
  `);
}

/** @param which condition of `pg_constraint` */
async function replaceReferences(knex: Knex, which: string, action: string): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE
      reference record;
    BEGIN
      FOR reference IN
        SELECT CAST(conrelid::regclass AS text) AS relation, conname,
               replace(pg_get_constraintdef(oid), ' ON DELETE CASCADE', '') AS definition
        FROM pg_constraint
        WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND ${which}
      LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s${action} NOT VALID',
                       reference.relation, reference.conname, reference.conname, reference.definition);
      END LOOP;
    END $$;
  `);
}

async function replaceCheck(knex: Knex, table: string, column: string, condition: string): Promise<void> {
  await knex.raw(`
    ALTER TABLE ${table}
      DROP CONSTRAINT ${table}_${column}_check,
      ADD CONSTRAINT ${table}_${column}_check CHECK (${condition}) NOT VALID
  `);
}
