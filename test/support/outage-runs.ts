import { expect } from 'vitest';
import { executeRun, type RunEnd } from '../../src/engine/runs/execute-run.ts';
import { requireSummary } from '../../src/engine/runs/find-run.ts';
import type { Account } from '../../src/gateway/account.ts';
import { type Ledger, openLedger } from '../../src/ledger/connection.ts';
import { anAccount } from './account.ts';
import { expectCountsKept } from './expect-counts.ts';
import { aContact, aRun, contextOf, planContacts } from './ledger.ts';
import type { SendPeer } from './send-peer.ts';

/** Engine and test have connections of their own to one database, so a test can break only the engine's. */

const never = new AbortController().signal;

/** Plans one request per recipient unless `chunkSize` is larger; four requests in flight. */
export function planRequests(
  ledger: Ledger,
  recipients: number,
  dispatch: object = {},
  chunkSize = 1,
): Promise<string> {
  const definition = { dispatch: { concurrency: 4, retries: 5, ...dispatch } };
  const contacts = Array.from({ length: recipients }, (_, index) => aContact(index + 2));
  return planContacts(ledger, aRun({ chunkSize, definition }), contacts);
}

export type Executed = {
  readonly end: RunEnd;
  /** In order. */
  readonly outages: readonly ('down' | 'up')[];
};

type ExecuteOptions = { readonly stop?: AbortSignal; readonly account?: Partial<Account> };

/** Executes a run over these connections. */
export async function executeIn(
  ledger: Ledger,
  run: string,
  service: Pick<SendPeer, 'url'>,
  { stop = never, account = {} }: ExecuteOptions = {},
): Promise<Executed> {
  const outages: ('down' | 'up')[] = [];
  const end = await executeRun(contextOf(ledger), run, {
    accountNamed: async () => anAccount({ baseUrl: service.url, ...account }),
    stop,
    events: {
      onStart: () => {},
      onProgress: () => {},
      onDown: () => outages.push('down'),
      onUp: () => outages.push('up'),
    },
  });
  return { end, outages };
}

/** Like `executeIn`, with connections of its own. */
export async function executeOn(
  url: string,
  run: string,
  service: Pick<SendPeer, 'url'>,
  how?: ExecuteOptions,
): Promise<Executed> {
  const ledger = await openLedger({ connectionString: url }, 'test database');
  try {
    return await executeIn(ledger, run, service, how);
  } finally {
    await ledger.close();
  }
}

/** Expects a completed run: every request was sent once, is accepted, and has no open attempt. */
export async function expectAllSentOnce(
  ledger: Ledger,
  run: string,
  { accepted }: Pick<SendPeer, 'accepted'>,
  requests: number,
): Promise<void> {
  const summary = await requireSummary(contextOf(ledger), run);
  expect(summary).toMatchObject({ state: 'completed', requests: { total: requests, accepted: requests } });
  expect(accepted()).toHaveLength(requests);
  expect(new Set(accepted().map(({ messageId }) => messageId)).size).toBe(requests);
  expect(await attemptsWithoutEnd(ledger, run)).toEqual([]);
  await expectCountsKept(ledger.pool, run);
  const { rows } = await ledger.pool.query('SELECT FROM slices WHERE run_id = $1 AND job IS NOT NULL', [run]);
  expect(rows).toEqual([]);
}

/** Finds attempts without an end, and requests with more attempts than recorded. */
export async function attemptsWithoutEnd({ pool }: Ledger, run: string): Promise<readonly unknown[]> {
  const { rows } = await pool.query(
    `SELECT request, q.state, q.attempts, count(a.attempt)::integer AS begun, count(a.finished_at)::integer AS ended
     FROM request_states q
     LEFT JOIN all_attempts a USING (run_id, request)
     WHERE q.run_id = $1
     GROUP BY request, q.state, q.attempts
     HAVING count(a.attempt) <> q.attempts OR count(a.finished_at) <> q.attempts`,
    [run],
  );
  return rows;
}
