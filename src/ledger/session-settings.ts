import type pg from 'pg';

export type SessionSettings = Readonly<Record<string, string>>;

/**
 * For every session. Compiling pays where rows are counted in tens of millions; where it is on (the default of a stock
 * Postgres), a mistaken estimate has a statement of a millisecond compiled for a second, and again each time it runs.
 */
export const everySession: SessionSettings = { jit: 'off' };

/**
 * A claim is planned anew each time, at 1 ms for 0.4 ms of work, unless generic plans are asked for. And such a plan is
 * made when the run's first attempts are written, and kept: it would read the whole table forever after, because then
 * there was next to nothing in it. So claim and settle are written so that each has a plan by keys, and these settings
 * leave the planner no other. A statement that cannot do without what is off here would cost 10^10, which leaves no
 * difference to compare; `test/ledger/hot-plans.test.ts` sees that there is none.
 */
export const keyedPlans: SessionSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
};

/** For commands that only look: Postgres refuses whatever would change a table. */
export const readOnly: SessionSettings = { default_transaction_read_only: 'on' };

export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  // Only what the database knows: others that speak Postgres's protocol have other planners. pg_settings would be made
  // whole for it, which takes 2 ms of each connection.
  await client.query(
    `SELECT set_config(name, value, false)
     FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     WHERE current_setting(name, true) IS NOT NULL`,
    [Object.keys(settings), Object.values(settings)],
  );
}
