import type pg from 'pg';
import { inTransaction, type Snapshot, type Transaction } from './session.ts';

type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** Rows of a query in batches, in constant memory. @param name cursor name, unique in the transaction */
export async function* streamRows<Row extends pg.QueryResultRow>(
  client: Snapshot,
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

/** Reads a stream in a read-only transaction. @returns the number of rows */
export async function readPages<Row>(
  pool: pg.Pool,
  rows: (client: Transaction) => AsyncIterable<readonly Row[]>,
  onPage: (page: readonly Row[]) => void,
): Promise<number> {
  const read = async (client: Transaction): Promise<number> => {
    let count = 0;
    for await (const page of rows(client)) {
      count += page.length;
      onPage(page);
    }
    return count;
  };
  return inTransaction(pool, read, 'BEGIN READ ONLY');
}
