import type pg from 'pg';

export type SessionSettings = Readonly<Record<string, string>>;

/**
 * JIT pays off for tens of millions of rows. A wrong estimate makes a stock Postgres compile a 1 ms statement for a
 * second, each time.
 */
export const everySession: SessionSettings = { jit: 'off' };

/**
 * Forces generic plans by keys: planning a claim takes 1 ms for 0.4 ms of work. Postgres keeps a plan made on nearly
 * empty tables, which would scan large ones, so these settings leave only plans by keys. A statement that needs a
 * disabled one would cost 10^10; `test/ledger/hot-plans.test.ts` rules that out.
 */
export const keyedPlans: SessionSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
};

/** For read-only commands: Postgres refuses changes. */
export const readOnly: SessionSettings = { default_transaction_read_only: 'on' };

export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  // Skips settings unknown to databases that only speak Postgres's protocol. Reading pg_settings takes 2 ms.
  await client.query(
    `SELECT set_config(name, value, false)
     FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     WHERE current_setting(name, true) IS NOT NULL`,
    [Object.keys(settings), Object.values(settings)],
  );
}
