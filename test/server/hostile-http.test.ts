import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createReportStore } from '../../src/engine/delivery-reports/report-store.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startApi } from '../../src/server/api/api.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createOperations, startOperations } from '../../src/server/operations.ts';
import { type Receiver, startReceiver } from '../../src/server/receiver.ts';
import { openRawConnection, sendRaw, statusesOf } from '../support/raw-http.ts';
import { emptyInbox, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let receiver: Receiver;
const path = `/webhook/main/${token}`;
/** A test can wait for these. */
const limits = { headTime: 400, requestTime: 900, connections: 50, closeTime: 600 };

beforeAll(async () => {
  receiver = await startReceiver(opened.context, { ...receiverOptions(opened), limits });
});
afterAll(async () => {
  await receiver.close();
});
beforeEach(() => emptyInbox(opened));

const head = (...lines: readonly string[]) => [...lines, 'Host: x', '', ''].join('\r\n');
const post = (...lines: readonly string[]) => head(`POST ${path} HTTP/1.1`, ...lines);

/** A delivery report from another caller. */
async function report(url = receiver.url): Promise<number> {
  const answer = await request(url + path, { method: 'POST', body: '{}', headers: { connection: 'close' } });
  await answer.body.dump();
  return answer.statusCode;
}

describe('startReceiver, for a slow caller', () => {
  test('a caller that sends its body byte by byte is cut off, and nothing is stored', async () => {
    const { socket, ended } = await openRawConnection(receiver.url, post('Content-Length: 1000'));
    const drip = setInterval(() => socket.writable && socket.write('x'), 50);
    const heard = await ended;
    clearInterval(drip);
    expect(statusesOf(heard)).toEqual([408]);
    expect(await inboxOf(opened)).toEqual([]);
  });

  test('a caller that is slow with its headers is cut off', async () => {
    const { socket, ended } = await openRawConnection(receiver.url, `POST ${path} HTTP/1.1\r\nHost: x\r\n`);
    const drip = setInterval(() => socket.writable && socket.write('a'), 50);
    const heard = await ended;
    clearInterval(drip);
    expect(statusesOf(heard)).toEqual([408]);
  });

  test('a caller that sends nothing is cut off', async () => {
    expect(statusesOf(await sendRaw(receiver.url, ''))).toEqual([408]);
  });

  test('a refused call is answered before its body has arrived', async () => {
    const wrong = head('POST /webhook/main/wrong HTTP/1.1', 'Content-Length: 1000');
    const { socket, received } = await openRawConnection(receiver.url, wrong);
    await once(socket, 'data');
    expect(statusesOf(received())).toEqual([404]);
    socket.destroy();
  });
});

describe('startReceiver, with thousands of connections', () => {
  test('idle connections do not lock other callers out', async () => {
    const options = { ...receiverOptions(opened), limits: { headTime: 60_000, connections: 500 } };
    const busy = await startReceiver(opened.context, options);
    const beginnings = ['', 'POST /', head('GET /healthz HTTP/1.1'), head('GET /nowhere HTTP/1.1')];
    const sockets = [];
    for (let count = 0; count < 2_000; count++) {
      sockets.push((await openRawConnection(busy.url, beginnings[count % beginnings.length])).socket);
      if (count % 500 === 499) expect(await report(busy.url)).toBe(200);
    }
    for (const socket of sockets) socket.destroy();
    await busy.close();
  });

  test('a new connection does not cut off an open request', async () => {
    const { socket, received } = await openRawConnection(receiver.url, post('Content-Length: 2'));
    const others = [];
    for (let count = 0; count < 120; count++) others.push((await openRawConnection(receiver.url)).socket);
    socket.write('{}');
    await once(socket, 'data');
    expect(statusesOf(received())).toEqual([200]);
    for (const other of [socket, ...others]) other.destroy();
  });
});

describe('startReceiver, for a large call', () => {
  const large = 1024 * 1024 + 1;

  test('a call with a large Content-Length is answered 413 before its body arrives', async () => {
    expect(statusesOf(await sendRaw(receiver.url, post(`Content-Length: ${large}`)))).toEqual([413]);
  });

  test('a body in chunks is answered 413 when it becomes too large', async () => {
    const { socket, ended } = await openRawConnection(receiver.url, post('Transfer-Encoding: chunked'));
    socket.write(`100000\r\n${'x'.repeat(0x100000)}\r\n1\r\nx\r\n`);
    expect(statusesOf(await ended)).toEqual([413]);
    expect(await inboxOf(opened)).toEqual([]);
  });

  test('a large body for a wrong path is answered 404 like any other call', async () => {
    const wrong = head('POST /webhook/main/wrong HTTP/1.1', `Content-Length: ${large}`, 'Connection: close');
    expect(statusesOf(await sendRaw(receiver.url, wrong))).toEqual([404]);
  });

  test.each([
    ['a path of 100 kB', head(`POST /${'x'.repeat(100_000)} HTTP/1.1`)],
    ['a query string of 100 kB', head(`GET ${path}?${'x'.repeat(100_000)} HTTP/1.1`)],
    ['10,000 headers', post(...Array.from({ length: 10_000 }, (_, index) => `h${index}: x`))],
    ['a header of 100 kB', post(`x: ${'x'.repeat(100_000)}`)],
  ])('a large head, such as %s, is answered 431 and cut off', async (_, bytes) => {
    // A sending caller can notice the end before the answer.
    expect([[431], []]).toContainEqual(statusesOf(await sendRaw(receiver.url, bytes)));
    expect(await inboxOf(opened)).toEqual([]);
    expect(await report()).toBe(200);
  });
});

describe('startReceiver, for an ambiguous request', () => {
  const chunked = '0\r\n\r\n';
  test.each([
    [
      'Content-Length beside Transfer-Encoding',
      post('Content-Length: 5', 'Transfer-Encoding: chunked') + chunked,
    ],
    [
      'Transfer-Encoding beside Content-Length',
      post('Transfer-Encoding: chunked', 'Content-Length: 5') + chunked,
    ],
    ['two Content-Lengths', `${post('Content-Length: 2', 'Content-Length: 3')}{}`],
    ['a list of Content-Lengths', `${post('Content-Length: 2, 2')}{}`],
    ['a Content-Length with a sign', `${post('Content-Length: +2')}{}`],
    ['a negative Content-Length', `${post('Content-Length: -2')}{}`],
    ['a hexadecimal Content-Length', `${post('Content-Length: 0x2')}{}`],
    ['a Content-Length beyond 64 bits', post('Content-Length: 99999999999999999999999')],
    ['a space before a colon', `${post('Content-Length : 2')}{}`],
    ['an unknown Transfer-Encoding', post('Transfer-Encoding: xchunked') + chunked],
    [
      'a Transfer-Encoding that does not end with chunked',
      post('Transfer-Encoding: chunked, identity') + chunked,
    ],
    ['a chunk without a size', `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk that is longer than its size', `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`],
    ['an invalid header line', post('nonsense')],
    ['a NUL in a header', post('x: a\0b')],
    ['a bare carriage return', post('x: a\rContent-Length: 2')],
    ['no Host', `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`],
    ['another protocol', 'nonsense\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('a request with %s is answered 400 and not stored', async (_, bytes) => {
    expect(statusesOf(await sendRaw(receiver.url, Buffer.from(bytes, 'latin1')))).toEqual([400]);
    expect(await inboxOf(opened)).toEqual([]);
  });
});

test.each([
  `/webhook/../webhook/main/${token}`,
  `/webhook/main/../main/${token}`,
  `/webhook//main/${token}`,
  `/webhook/x%2f..%2fmain/${token}`,
  `/webhook/main%2f${token}`,
  `/webhook/main/..%2f${token}`,
  `/webhook\\main\\${token}`,
  `/webhook/main/${token}%00`,
  `/webhook/MAIN/${token}`,
  `/WEBHOOK/main/${token}`,
  `//webhook/main/${token}`,
  '*',
])('a path that only resembles a webhook is answered 404: %s', async (target) => {
  const bytes = head(`POST ${target} HTTP/1.1`, 'Content-Length: 0', 'Connection: close');
  expect(statusesOf(await sendRaw(receiver.url, bytes))).toEqual([404]);
  expect(await inboxOf(opened)).toEqual([]);
});

describe('startReceiver, for a wrong Content-Length', () => {
  test('a call with too large a Content-Length is cut off and not stored', async () => {
    expect(statusesOf(await sendRaw(receiver.url, `${post('Content-Length: 3')}{}`))).toEqual([408]);
    expect(await inboxOf(opened)).toEqual([]);
  });

  test('a call with too large a Content-Length is not stored when its caller disconnects', async () => {
    const { socket, ended } = await openRawConnection(receiver.url, `${post('Content-Length: 3')}{}`);
    socket.end();
    await ended;
    expect(await inboxOf(opened)).toEqual([]);
  });

  test('the bytes behind too small a Content-Length are not another request', async () => {
    const { socket, ended } = await openRawConnection(receiver.url, `${post('Content-Length: 2')}{}`);
    await once(socket, 'data');
    socket.write('"MessageID":1}\r\n\r\n');
    expect(statusesOf(await ended)).toEqual([200, 400]);
    expect(await inboxOf(opened)).toMatchObject([{ body: Buffer.from('{}') }]);
  });
});

describe('close of the receiver', () => {
  /** Starts a receiver whose store the test holds up. */
  async function slowReceiver() {
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const store = createReportStore(opened.context);
    const slow = await startReceiver(opened.context, {
      ...receiverOptions(opened),
      limits: { ...limits, storeTime: 60_000 },
      store: async (call) => {
        entered.resolve();
        await gate.promise;
        await store(call);
      },
    });
    return { slow, gate, entered: entered.promise };
  }

  test('close answers open requests, and does not wait for idle connections', async () => {
    const { slow, gate, entered } = await slowReceiver();
    const idle = await openRawConnection(slow.url);
    const half = await openRawConnection(slow.url, 'POST /');
    const answered = report(slow.url);
    await entered;
    const closed = slow.close();
    await Promise.all([idle.ended, half.ended]);
    gate.resolve();
    expect(await answered).toBe(200);
    await closed;
    expect(await inboxOf(opened)).toHaveLength(1);
    await expect(report(slow.url)).rejects.toThrow();
  });

  test('close cuts off requests that are not done in time', async () => {
    const { slow, gate, entered } = await slowReceiver();
    const cut = expect(report(slow.url)).rejects.toThrow();
    await entered;
    await slow.close();
    await cut;
    gate.resolve();
  });
});

test('a delivery report that cannot be stored in time is answered 503', async () => {
  const hanging = await startReceiver(opened.context, {
    ...receiverOptions(opened),
    limits: { storeTime: 100 },
    store: () => sleep(60_000, undefined, { ref: false }),
  });
  const answer = await request(hanging.url + path, { method: 'POST', body: '{}' });
  await answer.body.dump();
  await hanging.close();
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('30');
});

test('every listener refuses a call with two Host headers, and ends its connection', async () => {
  await using listeners = new AsyncDisposableStack();
  const sandbox = listeners.adopt(await startSandbox({}), (it) => it.close());
  const here = { host: '127.0.0.1', port: 0 };
  const api = listeners.adopt(await startApi(opened.context, { ...here, api: undefined }), (it) =>
    it.close(),
  );
  const operations = createOperations(opened.context, createMetrics({ includeNode: false }), () => false);
  const monitoring = listeners.adopt(await startOperations(operations, here, []), (it) => it.close());
  for (const { url } of [receiver, sandbox, api, monitoring]) {
    const call = `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nHost: other.example\r\nContent-Length: 2\r\n\r\n{}`;
    expect(statusesOf(await sendRaw(url, call))).toEqual([400]);
  }
  expect(await inboxOf(opened)).toEqual([]);
});
