import type { Knex } from 'knex';

/**
 * Runs that watch themselves. A canary goes first, and no worker gets another slice before the run is promoted: also none
 * of Volley 0.3.0, which queues only waiting slices.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await addParts(knex);
  await createWatches(knex);
  await replaceRunReasons(knex, (kinds) => [...kinds, ...addedReasons], explainReasons);
  await replaceActions(knex, (actions) => [...actions, addedAction]);
}

/** Refused while a slice waits for its promotion: it would be sent. */
export async function down(knex: Knex): Promise<void> {
  await lockTables(knex);
  await knex.raw(`
    DROP TABLE run_decisions, run_watches;
    ALTER TABLE envelopes DROP COLUMN variant;
    ALTER TABLE slices
      DROP COLUMN is_canary,
      DROP CONSTRAINT slices_state_check,
      ADD CONSTRAINT slices_state_check CHECK (state IN ('waiting', 'queued', 'held', 'done'));
    COMMENT ON COLUMN slices.state IS
      'waiting: it has no job in the queue. queued: its job waits for a worker. held: a worker has it and sends its '
      'requests. done: nothing is left to send, until an operator or the campaign resends a request.';
  `);
  await replaceReasonsByTheirKinds(knex);
  await replaceRunReasons(knex, (kinds) => kinds.filter((kind) => !addedReasons.includes(kind)), '');
  // Entries are never removed, so those of promoted runs stay.
  await replaceActions(knex, (actions) => actions.filter((action) => action !== addedAction), 'NOT VALID');
}

const addedReasons: readonly string[] = [
  'canary_stopped',
  'guard_undelivered',
  'guard_silent',
  'guard_price',
  'guard_rejected',
  'guard_unknown',
];

const explainReasons =
  ' canary_stopped: its canary showed more failures than the campaign allows. guard_undelivered, guard_silent, ' +
  'guard_price, guard_rejected, guard_unknown: its guard stopped it, because of too many undelivered recipients, ' +
  'missing delivery reports, other prices than those of the rate card, or too many rejected or unknown recipients.';

const addedAction = 'run promoted';

/** Processes lock these tables in other orders. So the migration never waits for one while it has another. */
async function lockTables(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          LOCK TABLE runs, slices, envelopes, run_states, notifications, audit IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
  `);
}

async function addParts(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE slices
      ADD COLUMN is_canary boolean NOT NULL DEFAULT false,
      DROP CONSTRAINT slices_state_check,
      ADD CONSTRAINT slices_state_check CHECK (state IN ('unpromoted', 'waiting', 'queued', 'held', 'done'));
    COMMENT ON COLUMN slices.state IS
      'unpromoted: no worker gets it before the run is promoted, which makes it waiting. waiting: it has no job in the '
      'queue. queued: its job waits for a worker. held: a worker has it and sends its requests. done: nothing is left to '
      'send, until an operator or the campaign resends a request.';
    COMMENT ON COLUMN slices.is_canary IS 'Its requests go first. The others wait until the run is promoted.';

    ALTER TABLE envelopes ADD COLUMN variant smallint;
    -- Compared with new rows only: all others are null.
    ALTER TABLE envelopes ADD CONSTRAINT envelopes_variant_check CHECK (variant BETWEEN 1 AND 5) NOT VALID;
    COMMENT ON COLUMN envelopes.variant IS
      'The variant of its message, from 1, in the order of the campaign; null: the campaign has none.';
  `);
}

async function createWatches(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_watches (
      run_id      text PRIMARY KEY REFERENCES runs,
      observed_ms bigint NOT NULL DEFAULT 0 CHECK (observed_ms >= 0),
      looked_at   timestamptz,
      evidence    jsonb
    );
    COMMENT ON TABLE run_watches IS
      'Runs with a canary, a guard or variants. Workers look at them about once a second while they are running.';
    COMMENT ON COLUMN run_watches.observed_ms IS
      'How long the canary has been observed since the run began or was resumed. Each look adds the time since the one '
      'before, but at most 10 seconds, so that neither a wrong clock nor a time without workers ends the observation.';
    COMMENT ON COLUMN run_watches.looked_at IS 'When a worker last looked; null: none has.';
    COMMENT ON COLUMN run_watches.evidence IS 'What the guard has seen so far; null: nothing.';

    CREATE TABLE run_decisions (
      run_id     text NOT NULL REFERENCES runs,
      decision   bigint GENERATED ALWAYS AS IDENTITY,
      decided_at timestamptz NOT NULL,
      kind       text NOT NULL CHECK (kind IN
                   ('canary promoted', 'canary aborted', 'guard stopped', 'guard warned', 'winner', 'no winner')),
      by_user    text,
      reason     text,
      record     jsonb NOT NULL,
      PRIMARY KEY (run_id, decision)
    );
    COMMENT ON TABLE run_decisions IS
      'What was decided about a run that is watched. Each row is written with the change that it makes; no row is changed.';
    COMMENT ON COLUMN run_decisions.decision IS 'Increases with each decision.';
    COMMENT ON COLUMN run_decisions.kind IS
      'canary promoted: all other slices may be sent. canary aborted: the run is paused, because its canary showed more '
      'failures than the campaign allows. guard stopped: the guard paused the run. guard warned: it would have, but only '
      'notifies. winner: one variant is better. no winner: the test ended without one.';
    COMMENT ON COLUMN run_decisions.by_user IS 'The operator who decided; null: Volley.';
    COMMENT ON COLUMN run_decisions.reason IS 'The words of the operator; null: none, or purged.';
    COMMENT ON COLUMN run_decisions.record IS 'The counts, the test with its name and limit, and its error rates.';
  `);
}

/**
 * Changes the kinds that the function has now, because other migrations add theirs in any order.
 *
 * @param explained ends the comment of `runs.state_reason`; empty: what `explainReasons` added is removed
 */
async function replaceRunReasons(
  knex: Knex,
  change: (kinds: readonly string[]) => readonly string[],
  explained: string,
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { readonly kinds: string[]; readonly comment: string }[] }>(`
    SELECT ARRAY(
             SELECT literal[1]
             FROM regexp_matches(pg_get_functiondef(CAST('is_run_reason' AS regproc)), '''([^'']+)''::text', 'g')
               WITH ORDINALITY AS found (literal, place)
             WHERE literal[1] <> 'kind'
             ORDER BY place
           ) AS kinds,
           col_description(CAST('runs' AS regclass), attnum) AS comment
    FROM pg_attribute
    WHERE attrelid = CAST('runs' AS regclass) AND attname = 'state_reason'
  `);
  const [found] = rows;
  if (!found) throw new Error('runs has no column state_reason');
  const comment = found.comment.replace(explainReasons, '') + explained;
  await knex.raw(`
    CREATE OR REPLACE FUNCTION is_run_reason(reason jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN reason ->> 'kind' IN (${literals(change(found.kinds))});
    COMMENT ON COLUMN runs.state_reason IS ${literals([comment])};
  `);
}

async function replaceReasonsByTheirKinds(knex: Knex): Promise<void> {
  for (const [table, column] of [
    ['runs', 'state_reason'],
    ['run_states', 'reason'],
    ['notifications', 'reason'],
  ])
    await knex.raw(
      `UPDATE ${table} SET ${column} = ${column} -> 'kind' WHERE ${column} ->> 'kind' IN (${literals(addedReasons)})`,
    );
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
  await knex.raw(`
    ALTER TABLE audit
      DROP CONSTRAINT audit_action_check,
      ADD CONSTRAINT audit_action_check CHECK (action IN (${literals(change(rows.map(({ action }) => action)))})) ${how};
  `);
}

function literals(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ');
}
