import { expect, test } from 'vitest';
import { inSession } from '../../../src/ledger/session.ts';
import { openApiScene } from '../../support/api-scene.ts';

test('a report whose caller disconnected stops its query in Postgres, and is no error in the log', async () => {
  await using scene = await openApiScene();
  const { pool } = scene.opened.ledger;
  const waiting = async (): Promise<number> => {
    const { rows } = await pool.query<{ waiting: number }>(
      `SELECT count(*)::integer AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.waiting ?? 0;
  };
  await inSession(pool, async (client) => {
    await client.query('BEGIN; LOCK TABLE requests IN ACCESS EXCLUSIVE MODE');
    const disconnecting = new AbortController();
    const answer = fetch(`${scene.url}/api/v1/reports/missing`, {
      headers: { authorization: `Bearer ${scene.tokens.read}` },
      signal: disconnecting.signal,
    });
    answer.catch(() => undefined);
    await expect.poll(waiting, { timeout: 5_000 }).toBe(1);
    disconnecting.abort();
    await expect.poll(waiting, { timeout: 8_000 }).toBe(0);
    await client.query('ROLLBACK');
    await expect.poll(() => scene.logged()).toContain('the caller of a report disconnected');
    expect(scene.logged()).not.toContain('failed');
  });
});
