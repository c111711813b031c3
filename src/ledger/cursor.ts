import type pg from 'pg';
import type { Transaction } from './session.ts';

type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/**
 * The rows of a query in batches, in constant memory.
 *
 * @param name of the cursor, a word of its own in the transaction
 */
export async function* streamRows<Row extends pg.QueryResultRow>(
  client: Transaction,
  name: string,
  { sql, values }: Statement,
  batch: number,
): AsyncGenerator<readonly Row[], void, undefined> {
  const cursor = client.escapeIdentifier(name);
  await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, [...values]);
  for (;;) {
    const { rows } = await client.query<Row>(`FETCH ${batch} FROM ${cursor}`);
    if (rows.length > 0) yield rows;
    if (rows.length < batch) break;
  }
  await client.query(`CLOSE ${cursor}`);
}
