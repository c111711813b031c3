import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { blocksOf } from '../support/documents.ts';
import { runStatement } from '../support/statement.ts';

const queries = blocksOf('docs/reference/ledger.md').filter(({ language }) => language === 'sql');

test('Postgres accepts every query of docs/reference/ledger.md', async () => {
  expect(queries.length).toBeGreaterThan(0);
  const database = await createTestDatabase();
  try {
    for (const { text } of queries) await runStatement(database.url, text);
  } finally {
    await database.drop();
  }
});
