import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerSuccess, httpPeer } from '../../gateway/test-peers.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const concurrency = 8;
/** Divided among four slices; the run has one. */
const limits = { concurrency: 4 * concurrency };

async function claimed(run: string): Promise<number> {
  const { rows } = await opened.ledger.pool.query<{ claimed: number }>(
    'SELECT CAST(sum(claimed_to - first_request + 1) AS integer) AS claimed FROM slices WHERE run_id = $1',
    [run],
  );
  return rows[0]?.claimed ?? 0;
}

async function planned(requests: number): Promise<string> {
  const contacts = Array.from({ length: requests }, (_, index) => aContact(index + 2));
  return planContacts(
    opened.ledger,
    aRun({ chunkSize: 1, definition: { dispatch: { concurrency, retries: 0 } } }),
    contacts,
  );
}

test('while the service does not answer, a slice claims at most twice the requests in flight', async () => {
  const held: (() => void)[] = [];
  let holds = true;
  await using service = await httpPeer((messageId, response) => {
    if (holds) held.push(() => answerSuccess(messageId, response));
    else answerSuccess(messageId, response);
  });
  const run = await planned(100);
  const executing = execute(opened.context, run, accountAt(service.url, limits));
  while (held.length < concurrency) await sleep(5);
  await sleep(100);
  expect(held).toHaveLength(concurrency);
  expect(await claimed(run)).toBeLessThanOrEqual(2 * concurrency);

  holds = false;
  for (const answer of held) answer();
  expect((await executing).summary.requests).toMatchObject({ total: 100, accepted: 100 });
});

test('a slice never claims more than four times the requests in flight, however fast the service is', async () => {
  let arrived = 0;
  const ahead: number[] = [];
  const run = await planned(1_000);
  async function answer(messageId: string, response: ServerResponse): Promise<void> {
    arrived++;
    if (arrived % 5 === 0) {
      // Later arrivals can only lower it.
      ahead.push((await claimed(run)) - arrived);
    }
    answerSuccess(messageId, response);
  }
  await using service = await httpPeer((messageId, response) => void answer(messageId, response));
  const { summary } = await execute(opened.context, run, accountAt(service.url, limits));
  expect(summary.requests).toMatchObject({ total: 1_000, accepted: 1_000 });
  expect(ahead.length).toBeGreaterThan(100);
  expect(Math.max(...ahead)).toBeLessThanOrEqual(4 * concurrency);
  expect(Math.max(...ahead)).toBeGreaterThan(0);
});
