import { existsSync } from 'node:fs';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { readJournal } from '../support/journal.ts';
import { volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('the demo sends everybody by SMS, email and fax, and the ledger agrees with the service to the last recipient', async () => {
  await using workspace = await makeWorkspace();
  const database = await createTestDatabase();
  const { code, stdout, stderr } = await volley(['demo'], {
    cwd: workspace.folder,
    env: { DATABASE_URL: database.url },
  });
  expect(stderr).toMatch(/sending .*385\/385 requests/);
  expect(stdout).toMatch(
    /outage-notice {2}completed\n {2}contacts {4}500 read: 54 invalid\n {2}requests {4}385: 385 accepted/,
  );
  expect(stdout).toMatch(/│ Total +│ +│ +897 │ +1350 │ +1350 │/);
  expect(code).toBe(0);

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{
    message_id: string;
    recipients: string[];
    state: string;
    outcomes: string[];
  }>(
    `SELECT message_id, q.state, array_agg(address ORDER BY position) AS recipients, array_agg(outcome) AS outcomes
     FROM requests q JOIN recipients USING (run_id, request) GROUP BY message_id, q.state`,
  );
  await client.end();
  await database.drop();

  const journal = await readJournal(`${workspace.folder}/.volley/sandbox-journal.jsonl`);
  const byId = new Map(rows.map((row) => [row.message_id, row]));
  expect(journal).toHaveLength(rows.length);
  for (const { messageId, recipients, status } of journal) {
    expect(byId.get(messageId ?? '')).toMatchObject({ state: 'accepted', recipients });
    expect(status).toBe(200);
  }
  const outcomes = new Set(rows.flatMap((row) => row.outcomes));
  expect(outcomes).toEqual(new Set(['delivered', 'undelivered']));
  expect(existsSync(`${workspace.folder}/campaigns`)).toBe(false);
});
