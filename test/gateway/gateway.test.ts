import { describe, expect, test } from 'vitest';
import { checkReachable } from '../../src/gateway/reachable.ts';
import { freePort } from '../support/free-port.ts';
import {
  answeringPeer,
  answerSuccess,
  httpPeer,
  openTestGateway,
  smsRequest,
  tcpPeer,
} from './test-peers.ts';

const ok = '{"Result":"Success","MessageID":"V1"}';
const head = (length: number) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** Sends one request and returns its evidence and verdict. */
async function sendTo(url: string, options: Parameters<typeof openTestGateway>[1] = {}) {
  await using gateway = openTestGateway(url, options);
  const evidence = await gateway.send(smsRequest('V1'));
  return { evidence, verdict: gateway.classify(evidence, 'V1') };
}

describe('a request that is answered', () => {
  test('a request arrives in the form of the interface, below the path of the account', async () => {
    const seen: unknown[] = [];
    await using peer = await httpPeer((messageId, response, { method, url, headers }) => {
      seen.push({ method, url, headers });
      answerSuccess(messageId, response);
    });
    const { evidence, verdict } = await sendTo(`${peer.url}/behind/proxy`);
    expect(verdict).toEqual({ kind: 'accepted' });
    expect(evidence).toMatchObject({ kind: 'answer', status: 200 });
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/behind/proxy/api/v2.02/send/sms',
        headers: {
          authorization: 'Basic token-for-tests',
          'content-type': "application/json; encoding='utf-8'",
        },
      },
    ]);
    expect(seen).not.toMatchObject([{ headers: { 'accept-encoding': expect.anything() } }]);
  });

  test('a 429 means a retry after the requested wait', async () => {
    await using peer = await httpPeer((_id, response) =>
      response.writeHead(429, { 'Retry-After': '3' }).end(),
    );
    expect((await sendTo(peer.url)).verdict).toEqual({ kind: 'retry', reason: 'HTTP 429', retryAfter: '3' });
  });

  test('a redirect is in doubt, and is not followed', async () => {
    let requests = 0;
    await using peer = await httpPeer((_id, response) => {
      requests++;
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    expect((await sendTo(peer.url)).verdict).toMatchObject({ kind: 'in_doubt' });
    expect(requests).toBe(1);
  });

  test('an answer before the whole body was read decides the verdict', async () => {
    await using peer = await answeringPeer('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
    expect((await sendTo(peer.url)).verdict).toMatchObject({ kind: 'unauthorized' });
  });

  test('after an informational answer, the final one decides the verdict', async () => {
    await using peer = await answeringPeer(`HTTP/1.1 102 Processing\r\n\r\n${head(ok.length)}${ok}`);
    expect((await sendTo(peer.url)).verdict).toEqual({ kind: 'accepted' });
  });
});

test('an answer that arrives while the process halts for longer than the deadline is read', async () => {
  await using peer = await answeringPeer(`${head(ok.length)}${ok}`, () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  });
  expect((await sendTo(peer.url, { timeouts: { headers: 100 } })).verdict).toEqual({ kind: 'accepted' });
});

describe('a request that never left is retried', () => {
  const notSent = (error: unknown) => ({
    evidence: { kind: 'not_sent', error },
    verdict: { kind: 'retry', reason: error },
  });

  test('a request is retried when the port is closed', async () => {
    expect(await sendTo(`http://127.0.0.1:${await freePort()}`)).toEqual(notSent('connection refused'));
  });

  test('a request is retried when the host has no address', async () => {
    const result = await sendTo('http://no-such-host.invalid');
    expect(result).toEqual(notSent(expect.stringMatching(/^(host name|no connection)/)));
  });

  test('a request is retried when the peer does not speak TLS', async () => {
    await using peer = await tcpPeer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const result = await sendTo(peer.url.replace('http:', 'https:'));
    expect(result).toEqual(notSent(expect.stringMatching(/^(TLS failed|connection reset)/)));
  });

  test('a request is retried when the connection is lost before TLS is established', async () => {
    await using peer = await tcpPeer((socket) => socket.destroy());
    const result = await sendTo(peer.url.replace('http:', 'https:'));
    expect(result).toEqual(notSent('connection reset'));
  });

  test('a request is retried when TLS is not established in time', async () => {
    await using peer = await tcpPeer(() => {});
    const result = await sendTo(peer.url.replace('http:', 'https:'), { timeouts: { connect: 100 } });
    expect(result).toEqual(notSent('no connection in time'));
  });

  test('a request is retried when the gateway is closed', async () => {
    const gateway = openTestGateway(`http://127.0.0.1:${await freePort()}`);
    await gateway.close();
    expect(await gateway.send(smsRequest('V1'))).toEqual({
      kind: 'not_sent',
      error: 'the gateway is closed',
    });
  });
});

describe('a request without a complete answer is in doubt', () => {
  const noAnswer = (error: unknown, begun: { status?: number } = {}) => ({
    evidence: { kind: 'no_answer', error, ...begun },
    verdict: { kind: 'in_doubt', reason: error },
  });

  test('a request is in doubt when the connection closes after the header', async () => {
    await using peer = await answeringPeer('', (socket) => socket.end());
    expect(await sendTo(peer.url)).toEqual(noAnswer('connection closed before the answer was complete'));
  });

  test('a request is in doubt when the connection is reset after the header', async () => {
    await using peer = await answeringPeer('', (socket) => socket.resetAndDestroy());
    expect(await sendTo(peer.url)).toEqual(noAnswer('connection reset'));
  });

  test('a request is in doubt when the connection is reset in the middle of the answer', async () => {
    await using peer = await answeringPeer(head(ok.length) + ok.slice(0, 9), (socket) =>
      socket.resetAndDestroy(),
    );
    expect(await sendTo(peer.url)).toEqual(noAnswer(expect.any(String), { status: 200 }));
  });

  test('a request is in doubt when the answer is truncated', async () => {
    await using peer = await answeringPeer(head(ok.length) + ok.slice(0, 9), (socket) => socket.end());
    expect(await sendTo(peer.url)).toEqual(noAnswer(expect.any(String), { status: 200 }));
  });

  test('a request is in doubt when a chunked answer is truncated', async () => {
    const chunked = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${ok.length.toString(16)}\r\n${ok}\r\n`;
    await using peer = await answeringPeer(chunked, (socket) => socket.end());
    expect(await sendTo(peer.url)).toEqual(noAnswer(expect.any(String), { status: 200 }));
  });

  test('a request is in doubt when no answer arrives in time', async () => {
    await using peer = await answeringPeer('');
    expect(await sendTo(peer.url, { timeouts: { headers: 100 } })).toEqual(
      noAnswer('no answer within 100 ms'),
    );
  });

  test('a request is in doubt when only informational answers arrive', async () => {
    await using peer = await answeringPeer('', (socket) => {
      const dripping = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(dripping));
    });
    expect(await sendTo(peer.url, { timeouts: { headers: 150 } })).toEqual(
      noAnswer('no answer within 150 ms'),
    );
  });

  test('a request is in doubt when the answer takes longer than its time limit', async () => {
    await using peer = await answeringPeer(head(1000), (socket) => {
      const dripping = setInterval(() => socket.write(' '), 20);
      socket.once('close', () => clearInterval(dripping));
    });
    expect(await sendTo(peer.url, { timeouts: { body: 150 } })).toEqual(
      noAnswer('no complete answer within 150 ms', { status: 200 }),
    );
  });

  test('a request is in doubt when the answer is larger than a mebibyte, and the connection is closed', async () => {
    let closed = false;
    await using peer = await answeringPeer(head(2 ** 30), (socket) => {
      socket.once('close', () => {
        closed = true;
      });
      for (let blocks = 0; blocks < 40; blocks++) socket.write(Buffer.alloc(65_536, ' '));
    });
    expect(await sendTo(peer.url)).toEqual(noAnswer('answer larger than 1048576 bytes', { status: 200 }));
    await expect.poll(() => closed).toBe(true);
  });

  test('a request is in doubt when the answer is not HTTP', async () => {
    await using peer = await answeringPeer('220 mail.example ESMTP\r\n');
    expect(await sendTo(peer.url)).toEqual(noAnswer('answer is not HTTP'));
  });

  test('a request is in doubt when a 200 has no meaningful body', async () => {
    await using peer = await httpPeer((_id, response) => response.end('<html>Sign in to the network</html>'));
    expect(await sendTo(peer.url)).toMatchObject({
      evidence: { kind: 'answer' },
      verdict: { kind: 'in_doubt' },
    });
  });
});

test('a request that the interface cannot express throws before anything is sent', async () => {
  await using gateway = openTestGateway('http://127.0.0.1:1');
  expect(() => gateway.send({ ...smsRequest('V1'), channel: 'voice' })).toThrow('has no channel voice');
});

describe('checkReachable', () => {
  test('a listening service is reachable, and receives no bytes', async () => {
    let bytes = 0;
    let connections = 0;
    await using peer = await tcpPeer((socket) => {
      connections++;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
    });
    expect(await checkReachable(new URL(peer.url), 5_000)).toEqual({ kind: 'reachable' });
    expect({ bytes, connections }).toEqual({ bytes: 0, connections: 1 });
  });

  test('an unreachable service is reported with the reason', async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}`);
    expect(await checkReachable(url, 5_000)).toEqual({ kind: 'unreachable', why: 'connection refused' });
  });

  test('a service without TLS in time is unreachable', async () => {
    await using peer = await tcpPeer(() => {});
    const url = new URL(peer.url.replace('http:', 'https:'));
    expect(await checkReachable(url, 100)).toEqual({
      kind: 'unreachable',
      why: 'no connection within 100 ms',
    });
  });
});
