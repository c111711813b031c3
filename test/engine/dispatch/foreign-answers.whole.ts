import { describe, expect, test } from 'vitest';
import { resolveDoubts } from '../../../src/engine/runs/resolve-doubts.ts';
import { textPeer } from '../../gateway/test-peers.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { type SendCall, type SendReply, sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();

function planRun(
  requests: number,
  dispatch: object = {},
  firstRequests: number | null = null,
): Promise<string> {
  const definition = { dispatch: { concurrency: 16, retries: 1, ...dispatch } };
  const contacts = Array.from({ length: requests }, (_, index) =>
    aContact(index + 2, { address: `+6141${String(index).padStart(7, '0')}` }),
  );
  return planContacts(opened.ledger, aRun({ chunkSize: 1, definition, firstRequests }), contacts);
}

/** A web server that knows nothing of the interface, and counts the requests that it gets. */
async function webServer(status: number) {
  let requests = 0;
  const peer = await textPeer((_, response, request) => {
    if (request.method === 'POST') requests++;
    response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', Location: '/elsewhere' });
    response.end(`<html><body>Page ${requests} of ${status}, token-for-tests</body></html>`);
  });
  return { ...peer, requests: () => requests };
}

describe('a run whose address is not of its interface', () => {
  test.each([404, 405, 302, 501, 200])(
    'is paused after its first 20 requests are answered with HTTP %i and a page',
    async (status) => {
      await using server = await webServer(status);
      const run = await planRun(150);
      const { end, summary } = await execute(opened.context, run, accountAt(server.url));
      expect(end).toMatchObject({
        kind: 'paused',
        reason: expect.stringMatching(
          new RegExp(
            `first 20 requests.* ${server.url}/api/v2\\.02/send/sms .*HTTP ${status}, text/html: <html><body>Page \\d+ of ${status}, \\*\\*\\*<`,
          ),
        ),
      });
      expect(server.requests()).toBe(20);
      expect(summary).toMatchObject({
        state: 'paused',
        requests: { in_doubt: 20, planned: 130, sending: 0 },
        doubts: [{ reason: `HTTP ${status}, text/html`, requests: 20, recipients: 20 }],
      });
    },
  );

  test('is paused after as many requests as failFast says', async () => {
    await using server = await webServer(404);
    const account = accountAt(server.url);
    const first = await execute(opened.context, await planRun(30, { failFast: { first: 3 } }, 3), account);
    expect([first.end.kind, first.summary.requests]).toMatchObject(['paused', { in_doubt: 3, planned: 27 }]);
  });

  test('is sent when it is resumed with the right address', async () => {
    await using server = await webServer(405);
    await using service = await sendPeer(() => ({ kind: 'accepted' }));
    const run = await planRun(60);
    await execute(opened.context, run, accountAt(server.url));
    const again = await execute(opened.context, run, accountAt(server.url));
    expect([again.end.kind, again.summary.requests.in_doubt]).toEqual(['paused', 40]);
    const { end, summary } = await execute(opened.context, run, accountAt(service.url));
    expect([end.kind, summary.requests]).toMatchObject(['finished', { accepted: 20, in_doubt: 40 }]);
  });
});

describe('a run that gets an answer of its interface', () => {
  const answers: Readonly<Record<string, (call: SendCall) => SendReply>> = {
    'is accepted': ({ number }) => ({ kind: number === 20 ? 'accepted' : 'lost' }),
    'is rejected': ({ number }) => (number === 20 ? { kind: 'rejected', words: 'No' } : { kind: 'lost' }),
  };
  test.each(Object.entries(answers))('goes on when one of its first requests %s', async (_, answer) => {
    await using service = await sendPeer(answer);
    const { end, summary } = await execute(opened.context, await planRun(60), accountAt(service.url));
    expect([end.kind, summary.requests.planned]).toEqual(['finished', 0]);
  });

  test('goes on when a server in front of the service fails with HTTP 502 and a page', async () => {
    await using server = await webServer(502);
    const { end, summary } = await execute(opened.context, await planRun(60), accountAt(server.url));
    expect(end.kind).toBe('finished');
    expect(summary.doubts).toEqual([{ reason: 'HTTP 502, text/html', requests: 60, recipients: 60 }]);
  });
});

describe('resolveDoubts with an answer', () => {
  const decision = { resolution: 'abandon', by: 'ann', reason: 'wrong address' } as const;

  test('decides for all requests with this answer, and for no other', async () => {
    await using server = await webServer(404);
    const run = await planRun(150);
    await execute(opened.context, run, accountAt(server.url));
    await opened.ledger.pool.query(
      `UPDATE requests SET reason = '"connection reset"' WHERE run_id = $1 AND request <= 5`,
      [run],
    );
    const resolve = (answer: string) =>
      resolveDoubts(opened.context, { run, named: undefined, answer }, decision);
    expect(await problemsRejected(() => resolve('HTTP 40'))).toEqual([
      expect.stringContaining('In doubt: 15 with "HTTP 404, text/html", 5 with'),
    ]);
    expect(await resolve('http 404')).toHaveLength(15);
    expect(await problemsRejected(() => resolve('HTTP 404'))).toHaveLength(1);
    expect(await resolve('connection reset')).toHaveLength(5);
  });
});
