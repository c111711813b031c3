import type pg from 'pg';
import { expect } from 'vitest';
import { findWrongCounts } from '../../src/ledger/counts/recount.ts';

/** The counts that are kept of a run equal a count of its requests, recipients and outcomes. */
export async function expectCountsKept(client: pg.Pool | pg.ClientBase, run: string): Promise<void> {
  expect(await findWrongCounts(client, run), 'counts that are kept wrong').toEqual([]);
}
