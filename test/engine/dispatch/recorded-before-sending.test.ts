import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answerSuccess, httpPeer } from '../../gateway/test-peers.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** As another session sees it. */
async function ledgerRecordOf(messageId: string): Promise<unknown> {
  const { rows } = await opened.ledger.pool.query(
    `SELECT q.state, a.owner = s.owner AS of_the_holder, q.attempts AS attempt, a.finished_at IS NULL AS under_way
     FROM request_states q
     JOIN all_attempts a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = q.attempts
     JOIN slices s ON s.run_id = q.run_id AND q.request BETWEEN s.first_request AND s.last_request
     WHERE q.message_id = $1`,
    [messageId],
  );
  return rows[0];
}

const beingSent = (attempt: number) => ({ state: 'sending', of_the_holder: true, attempt, under_way: true });

test('the ledger records owner and attempt of a request before the request arrives at the service', async () => {
  const calls = new Map<string, number>();
  const records: unknown[] = [];

  /** Refuses every second request once. */
  async function answer(messageId: string, response: ServerResponse): Promise<void> {
    const call = 1 + (calls.get(messageId) ?? 0);
    calls.set(messageId, call);
    const refuse = call === 1 && calls.size % 2 === 0;
    records.push([messageId, call, await ledgerRecordOf(messageId)]);
    if (refuse) response.writeHead(503, { 'Retry-After': '0' }).end();
    else answerSuccess(messageId, response);
  }

  await using service = await httpPeer((messageId, response) => void answer(messageId, response));
  const contacts = Array.from({ length: 40 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  const { summary } = await execute(opened.context, run, accountAt(service.url));

  expect(summary.requests).toMatchObject({ total: 40, accepted: 40 });
  expect(records).toHaveLength(60);
  const expected = [...calls].flatMap(([messageId, count]) =>
    Array.from({ length: count }, (_, index) => [messageId, index + 1, beingSent(index + 1)]),
  );
  expect(records).toEqual(expect.arrayContaining(expected));
});
