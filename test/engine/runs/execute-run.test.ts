import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { requireRun, requireSummary } from '../../../src/engine/runs/find-run.ts';
import type { PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import { hashSuppressions } from '../../../src/ledger/purge/hash-suppressions.ts';
import { readDispatchProgress } from '../../../src/ledger/slices/progress.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { answerSuccess, httpPeer, type Peer } from '../../gateway/test-peers.ts';
import { anAccount } from '../../support/account.ts';
import { execute as executeWith } from '../../support/execute.ts';
import { freePort } from '../../support/free-port.ts';
import { readJournal } from '../../support/journal.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { hashKey, longAgo, withKey } from '../../support/purges.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const opened = testLedger();
afterEach(async () => {
  await opened.ledger.pool.query('DELETE FROM suppressions; DELETE FROM hashed_suppressions');
});

function planRun(requests: number, changes: Partial<PlannedRun> = {}): Promise<string> {
  const contacts = Array.from({ length: requests }, (_, index) => aContact(index + 2));
  return planContacts(opened.ledger, aRun({ chunkSize: 1, ...changes }), contacts);
}

const execute = (run: string, url: string, stop?: AbortSignal) =>
  executeWith(opened.context, run, anAccount({ baseUrl: url }), stop);

async function attemptsOf(run: string) {
  const { rows } = await opened.ledger.pool.query<{
    verdict: string;
    http_status: number | null;
    detail: string | null;
  }>('SELECT verdict, http_status, detail FROM all_attempts WHERE run_id = $1 ORDER BY request, attempt', [
    run,
  ]);
  return rows;
}

/** A peer that answers each request by the number of calls for it. */
function answerByCall(
  answer: (call: number, messageId: string, response: Parameters<typeof answerSuccess>[1]) => void,
) {
  const calls = new Map<string, number>();
  const peer = httpPeer((messageId, response) => {
    const call = (calls.get(messageId) ?? 0) + 1;
    calls.set(messageId, call);
    answer(call, messageId, response);
  });
  return { calls, peer };
}

test('every planned request is sent once and accepted, and the run is completed', async () => {
  const { calls, peer } = answerByCall((_, messageId, response) => answerSuccess(messageId, response));
  await using service = await peer;
  const { end, summary } = await execute(await planRun(50), service.url);
  expect(end.kind).toBe('finished');
  expect(summary).toMatchObject({ state: 'completed', requests: { total: 50, accepted: 50 } });
  expect([...calls.values()]).toEqual(Array.from({ length: 50 }, () => 1));
});

test("the campaign's concurrency limits the requests in flight", async () => {
  let inFlight = 0;
  let most = 0;
  await using service = await httpPeer(async (messageId, response) => {
    inFlight++;
    most = Math.max(most, inFlight);
    await sleep(20);
    inFlight--;
    answerSuccess(messageId, response);
  });
  await execute(await planRun(40, { definition: { dispatch: { concurrency: 3, retries: 0 } } }), service.url);
  expect(most).toBe(3);
});

test('a request answered 503 is sent again later with the same MessageID and bytes', async () => {
  const bodies: string[] = [];
  const { calls, peer } = answerByCall((call, messageId, response) => {
    if (call > 1) return answerSuccess(messageId, response);
    response.writeHead(503, { 'Retry-After': '0' }).end();
  });
  await using service = await peer;
  await using recorder = await recordBodies(service, bodies);
  const run = await planRun(1);
  const { summary } = await execute(run, recorder.url);
  expect(summary.requests).toMatchObject({ accepted: 1 });
  expect([...calls.values()]).toEqual([2]);
  expect(bodies).toHaveLength(2);
  expect(bodies[1]).toBe(bodies[0]);
  expect(await attemptsOf(run)).toEqual([
    { verdict: 'retry', http_status: 503, detail: 'HTTP 503' },
    { verdict: 'accepted', http_status: 200, detail: null },
  ]);
});

test('requests fail when the service refuses connections and the retries are spent', async () => {
  const run = await planRun(1, { definition: { dispatch: { concurrency: 1, retries: 1 } } });
  const { end, summary } = await execute(run, `http://127.0.0.1:${await freePort()}`);
  expect(end.kind).toBe('finished');
  expect(summary.requests).toMatchObject({ failed: 1, in_doubt: 0 });
  expect(await attemptsOf(run)).toMatchObject([
    { verdict: 'retry', http_status: null },
    { verdict: 'failed', http_status: null, detail: 'connection refused' },
  ]);
});

test("a request answered 400 is rejected with the service's words", async () => {
  await using service = await httpPeer((MessageID, response) => {
    response.writeHead(400, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ Result: 'Failed', MessageID, ErrorMessage: 'Missing or empty message' }));
  });
  const run = await planRun(1);
  const { summary } = await execute(run, service.url);
  expect(summary.requests).toMatchObject({ rejected: 1 });
  expect(await attemptsOf(run)).toEqual([
    { verdict: 'rejected', http_status: 400, detail: 'Missing or empty message' },
  ]);
});

test('a request answered 500 is in doubt and not sent again', async () => {
  const { calls, peer } = answerByCall((_, __, response) => response.writeHead(500).end());
  await using service = await peer;
  const run = await planRun(1);
  const { summary } = await execute(run, service.url);
  expect(summary).toMatchObject({
    state: 'completed',
    requests: { in_doubt: 1 },
    recipients: { unknown: 1 },
  });
  expect([...calls.values()]).toEqual([1]);
});

test('a refused credential pauses the run, and everything can be sent later', async () => {
  const refused = answerByCall((_, __, response) =>
    response.writeHead(401).end('{"Result":"Unauthorized","ErrorMessage":["bad token"]}'),
  );
  const run = await planRun(20);
  {
    await using service = await refused.peer;
    const { end, summary } = await execute(run, service.url);
    expect(end).toMatchObject({ kind: 'paused', reason: expect.stringMatching(/: bad token$/) });
    expect(summary).toMatchObject({ state: 'paused', requests: { planned: 20, sending: 0 } });
    expect((await requireRun(opened.context, run)).stateReason).toEqual({
      kind: 'credential_refused',
      account: 'sandbox',
      words: 'bad token',
    });
  }
  const { calls, peer } = answerByCall((_, messageId, response) => answerSuccess(messageId, response));
  await using service = await peer;
  const { summary } = await execute(run, service.url);
  expect(summary).toMatchObject({ state: 'completed', requests: { accepted: 20 } });
  expect([...calls.values()]).toEqual(Array.from({ length: 20 }, () => 1));
  // The MessageIDs of the refused attempts were accepted later.
  for (const messageId of refused.calls.keys()) expect(calls.has(messageId)).toBe(true);
});

test('a stopped run records the requests in flight, and the next start sends the rest once', async () => {
  const stop = new AbortController();
  const { calls, peer } = answerByCall(async (_, messageId, response) => {
    if (calls.size === 10) stop.abort();
    await sleep(30);
    answerSuccess(messageId, response);
  });
  await using service = await peer;
  const run = await planRun(40);
  const first = await execute(run, service.url, stop.signal);
  expect(first.end.kind).toBe('drained');
  expect(first.summary).toMatchObject({
    state: 'paused',
    requests: { sending: 0, in_doubt: 0, accepted: calls.size },
  });
  expect(calls.size).toBeLessThan(40);

  const second = await execute(run, service.url);
  expect(second.summary).toMatchObject({ state: 'completed', requests: { accepted: 40 } });
  expect([...calls.values()]).toEqual(Array.from({ length: 40 }, () => 1));
});

test('a stop during a long Retry-After returns the request instead of waiting', async () => {
  const stop = new AbortController();
  const { peer } = answerByCall((_, __, response) => {
    response.writeHead(429, { 'Retry-After': '50' }).end();
    setTimeout(() => stop.abort(), 50);
  });
  await using service = await peer;
  const run = await planRun(1);
  const { end, summary } = await execute(run, service.url, stop.signal);
  expect(end.kind).toBe('drained');
  expect(summary.requests).toMatchObject({ planned: 1 });
  expect(await attemptsOf(run)).toMatchObject([{ verdict: 'released', http_status: 429 }]);
});

test('two processes share a run without sending a request twice', async () => {
  const { calls, peer } = answerByCall(async (_, messageId, response) => {
    await sleep(5);
    answerSuccess(messageId, response);
  });
  await using service = await peer;
  const run = await planRun(1_200);
  const results = await Promise.all([execute(run, service.url), execute(run, service.url)]);
  for (const { end, summary } of results) {
    expect(end.kind).toBe('finished');
    expect(summary).toMatchObject({ state: 'completed', requests: { accepted: 1_200 } });
  }
  expect(calls.size).toBe(1_200);
  expect(new Set(calls.values())).toEqual(new Set([1]));
});

test('a run continues after the loss of all database sessions, and sends nothing twice', async () => {
  let broken = false;
  const { calls, peer } = answerByCall(async (_, messageId, response) => {
    if (calls.size >= 8 && !broken) {
      broken = true;
      await opened.breakConnections();
    }
    await sleep(20);
    answerSuccess(messageId, response);
  });
  await using service = await peer;
  const run = await planRun(40);
  const { end, summary } = await execute(run, service.url);
  expect(end.kind).toBe('finished');
  expect(summary).toMatchObject({ state: 'completed', requests: { accepted: 40 } });
  expect([...calls.values()]).toEqual(Array.from({ length: 40 }, () => 1));
});

test('a run that is stopped during its last request is completed', async () => {
  const stop = new AbortController();
  await using service = await httpPeer(async (messageId, response) => {
    stop.abort();
    await sleep(20);
    answerSuccess(messageId, response);
  });
  const { end, summary } = await execute(await planRun(1), service.url, stop.signal);
  expect(summary.requests).toMatchObject({ accepted: 1 });
  expect([end.kind, summary.state]).toEqual(['finished', 'completed']);
});

/** Suppresses the recipients of these lines of `planRun`, for all SubAccounts. */
async function suppress(lines: readonly number[]): Promise<void> {
  const others = {
    channel: 'sms',
    subAccount: '',
    reason: '',
    source: 'operator',
    createdAt: new Date(),
  } as const;
  const addresses = lines.map((line) => `+6140000${String(line).padStart(4, '0')}`);
  await addSuppressions(
    opened.ledger.pool,
    addresses.map((address) => ({ ...others, address })),
  );
}

test('a recipient suppressed after planning is excluded, and the others of the chunk are sent to', async () => {
  await using workspace = await makeWorkspace();
  const journal = `${workspace.folder}/journal.jsonl`;
  const sandbox = await startSandbox({ journal });
  try {
    const run = await planRun(6, { chunkSize: 3 });
    await suppress([3]);
    const { end, summary } = await execute(run, sandbox.url);
    expect(end.kind).toBe('finished');
    expect(summary).toMatchObject({
      state: 'completed',
      requests: { total: 2, accepted: 2, cancelled: 0 },
      recipients: { total: 6, accepted: 5, cancelled: 1 },
    });
    expect((await readJournal(journal)).map(({ recipients }) => recipients)).toEqual([
      ['+61400000005', '+61400000006', '+61400000007'],
      ['+61400000002', '+61400000004'],
    ]);
  } finally {
    await sandbox.close();
  }
});

test('a batch without recipients is cancelled, and the next one is sent', async () => {
  const { calls, peer } = answerByCall((_, messageId, response) => answerSuccess(messageId, response));
  await using service = await peer;
  const run = await planRun(12);
  await suppress([2, 3, 4, 5, 6, 7, 8, 9, 13]);
  const { end } = await execute(run, service.url);
  expect(end.kind).toBe('finished');
  expect(calls.size).toBe(3);
  expect(await requireSummary(opened.context, run)).toMatchObject({
    state: 'completed',
    requests: { total: 12, accepted: 3, cancelled: 9, planned: 0 },
    recipients: { total: 12, accepted: 3, cancelled: 9, pending: 0 },
  });
  const watch = (await readDispatchProgress(opened.ledger.pool, [run])).get(run);
  expect(watch).toMatchObject({ total: 12, settled: 12, notAccepted: 0, heldSlices: 0 });
});

test('a completed run sends nothing again', async () => {
  const { calls, peer } = answerByCall((_, messageId, response) => answerSuccess(messageId, response));
  await using service = await peer;
  const run = await planRun(1);
  await execute(run, service.url);
  expect((await execute(run, service.url)).end.kind).toBe('finished');
  expect([...calls.values()]).toEqual([1]);
});

test('a missing run is named in the error', async () => {
  await expect(execute('nosuch', 'http://127.0.0.1:1')).rejects.toThrow(/run nosuch: There is no such run/);
});

/** Records every request body before passing it on. */
async function recordBodies(service: Peer, bodies: string[]): Promise<Peer> {
  return httpPeer(async (messageId, response, request) => {
    const answer = await fetch(service.url + request.url, {
      method: 'POST',
      body: JSON.stringify({ MessageData: { MessageID: messageId } }),
    });
    bodies.push(`${messageId} ${request.headers['content-length']}`);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
}

test('a run does not start without the key of hashed suppressions, and with it excludes their recipients', async () => {
  const { calls, peer } = answerByCall((_, messageId, response) => answerSuccess(messageId, response));
  await using service = await peer;
  const run = await planRun(2);
  const common = { subAccount: '', reason: '', source: 'reply', createdAt: longAgo } as const;
  await addSuppressions(opened.ledger.pool, [{ channel: 'sms', address: '+61400000003', ...common }]);
  await hashSuppressions(opened.ledger.pool, hashKey, new Date());
  expect(await problemsRejected(() => execute(run, service.url))).toHaveLength(1);
  expect((await requireRun(opened.context, run)).state).toBe('planned');
  await executeWith(withKey(opened), run, anAccount({ baseUrl: service.url }));
  expect(calls.size).toBe(1);
  expect(await requireSummary(opened.context, run)).toMatchObject({
    requests: { accepted: 1, cancelled: 1 },
    recipients: { accepted: 1, cancelled: 1 },
  });
});
