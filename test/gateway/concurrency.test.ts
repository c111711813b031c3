import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/gateway/evidence.ts';
import { startTestSandbox } from '../sandbox/start-test-sandbox.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { answerTwice } from '../support/faults.ts';
import { answerSuccess, httpPeer, ids, openTestGateway, smsRequest, watchHeaders } from './test-peers.ts';

function countByKind(evidence: readonly Evidence[]): Record<Evidence['kind'], number> {
  const count = { not_sent: 0, answer: 0, no_answer: 0 };
  for (const { kind } of evidence) count[kind]++;
  return count;
}

describe('many requests at once', () => {
  test('each request gets the evidence of its own exchange, and the service receives each exactly once', async () => {
    const received: string[] = [];
    await using peer = await httpPeer((messageId, response) => {
      received.push(messageId);
      const number = Number(messageId.slice(1));
      if (number % 3 === 0) response.destroy();
      else setTimeout(() => answerSuccess(messageId, response), number % 7);
    });
    await using gateway = openTestGateway(peer.url, { concurrency: 8 });
    using headers = watchHeaders();

    const sent = ids(300);
    const evidence = await Promise.all(sent.map((id) => gateway.send(smsRequest(id))));

    for (const [number, one] of evidence.entries()) {
      expect(one).toMatchObject(
        number % 3 === 0 ? { kind: 'no_answer' } : { kind: 'answer', body: expect.anything() },
      );
      if (one.kind === 'answer')
        expect(JSON.parse(one.body.toString())).toMatchObject({ MessageID: `V${number}` });
    }
    expect(received.toSorted()).toEqual(sent.toSorted());
    expect(headers.written.length).toBe(300);
  });

  test('a service that stops in between splits the requests into sent and unsent ones, without an error', async () => {
    const received: string[] = [];
    await using peer = await httpPeer((messageId, response) => {
      received.push(messageId);
      if (received.length <= 20) answerSuccess(messageId, response);
      else if (received.length === 24) peer.stop();
    });
    await using gateway = openTestGateway(peer.url, { concurrency: 4 });
    using headers = watchHeaders();

    const evidence = await Promise.all(ids(100).map((id) => gateway.send(smsRequest(id))));

    const { not_sent: unsent, answer, no_answer: unanswered } = countByKind(evidence);
    expect(answer).toBe(20);
    expect(unanswered + unsent).toBe(80);
    expect(headers.written.length).toBe(answer + unanswered);
    expect(unanswered).toBe(4);
    for (const [number, { kind }] of evidence.entries()) {
      expect(received.includes(`V${number}`)).toBe(kind !== 'not_sent');
    }
  });
});

describe('a reused connection', () => {
  test('a connection is reused for the next request', async () => {
    const connections = new Set<Socket>();
    await using peer = await httpPeer((messageId, response, { socket }) => {
      connections.add(socket);
      answerSuccess(messageId, response);
    });
    await using gateway = openTestGateway(peer.url);
    for (const id of ids(5)) expect(await gateway.send(smsRequest(id))).toMatchObject({ kind: 'answer' });
    expect(connections.size).toBe(1);
  });

  test('a connection that the service closed between two requests is replaced, and nothing is sent twice', async () => {
    const received: string[] = [];
    await using peer = await httpPeer((messageId, response, { socket }) => {
      received.push(messageId);
      answerSuccess(messageId, response);
      response.once('finish', () => setTimeout(() => socket.end(), 20));
    });
    await using gateway = openTestGateway(peer.url);
    for (const id of ids(5)) {
      expect(await gateway.send(smsRequest(id))).toMatchObject({ kind: 'answer', status: 200 });
      await sleep(60);
    }
    expect(received).toEqual(ids(5));
  });

  test('a connection that is lost while the next request leaves makes that request in doubt, and the service receives it once', async () => {
    const received: string[] = [];
    await using peer = await httpPeer((messageId, response, { socket }) => {
      received.push(messageId);
      if (received.length === 1) answerSuccess(messageId, response);
      else socket.resetAndDestroy();
    });
    await using gateway = openTestGateway(peer.url);
    expect(await gateway.send(smsRequest('V0'))).toMatchObject({ kind: 'answer' });
    expect(await gateway.send(smsRequest('V1'))).toEqual({ kind: 'no_answer', error: 'connection reset' });
    await sleep(50);
    expect(received).toEqual(['V0', 'V1']);
  });

  test('a connection is closed when a second answer follows the first, and no other request gets that answer', async () => {
    await using service = await startTestSandbox();
    await using proxy = await startFaultProxy(service.port, () => answerTwice('503 Service Unavailable'));
    await using gateway = openTestGateway(proxy.url, { concurrency: 4 });
    for (const evidence of await Promise.all(ids(40).map((id) => gateway.send(smsRequest(id)))))
      expect(evidence).toMatchObject({ kind: 'answer', status: 200 });
    expect(proxy.connections()).toBe(40);
  });

  test('a refusal without MessageID is believed after a probe shows that it was the last answer on the connection', async () => {
    const received: string[] = [];
    await using peer = await httpPeer((messageId, response) => {
      received.push(messageId);
      if (messageId === 'V0') answerSuccess(messageId, response);
      else response.writeHead(400).end('{"Result":"Failed","ErrorMessage":["Missing Sender"]}');
    });
    await using gateway = openTestGateway(peer.url);
    await gateway.send(smsRequest('V0'));
    for (const id of ['V1', 'V2']) {
      const verdict = gateway.classify(await gateway.send(smsRequest(id)), id);
      expect(verdict).toEqual({ kind: 'rejected', words: ['Missing Sender'] });
    }
    expect(received).toEqual(ids(3));
  });

  test('a connection is not reused after an answer for another MessageID', async () => {
    const connections = new Set<Socket>();
    await using peer = await httpPeer((_messageId, response, { socket }) => {
      connections.add(socket);
      answerSuccess('another', response);
    });
    await using gateway = openTestGateway(peer.url);
    for (const id of ids(3)) {
      expect(gateway.classify(await gateway.send(smsRequest(id)), id)).toMatchObject({ kind: 'in_doubt' });
    }
    expect(connections.size).toBe(3);
  });

  test('a request is in doubt if its answer may belong to an earlier request', async () => {
    const refusal = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n';
    await using peer = await httpPeer((messageId, response, { socket }) => {
      if (messageId === 'V0') answerSuccess(messageId, response);
      else socket.write(refusal, () => setTimeout(() => answerSuccess(messageId, response), 30));
    });
    await using gateway = openTestGateway(peer.url);
    await gateway.send(smsRequest('V0'));
    expect(gateway.classify(await gateway.send(smsRequest('V1')), 'V1')).toEqual({
      kind: 'in_doubt',
      reason: expect.stringContaining('may belong to an earlier request'),
    });
  });

  test('a connection is closed as early as the service announces', async () => {
    const connections = new Set<Socket>();
    await using peer = await httpPeer((messageId, response, { socket }) => {
      connections.add(socket);
      response.setHeader('Connection', 'close');
      answerSuccess(messageId, response);
    });
    await using gateway = openTestGateway(peer.url);
    for (const id of ids(3)) expect(await gateway.send(smsRequest(id))).toMatchObject({ kind: 'answer' });
    expect(connections.size).toBe(3);
  });
});

test('close() waits for the exchange in flight', async () => {
  const arrived = Promise.withResolvers<void>();
  await using peer = await httpPeer((messageId, response) => {
    arrived.resolve();
    setTimeout(() => answerSuccess(messageId, response), 50);
  });
  const gateway = openTestGateway(peer.url);
  const exchange = gateway.send(smsRequest('V1'));
  await arrived.promise;
  await gateway.close();
  expect(await exchange).toMatchObject({ kind: 'answer', status: 200 });
});

test('a large request arrives complete', async () => {
  let bytes = 0;
  await using peer = await httpPeer((messageId, response, request) => {
    bytes = Number(request.headers['content-length']);
    answerSuccess(messageId, response);
  });
  await using gateway = openTestGateway(peer.url);
  expect(await gateway.send(smsRequest('V1', 'é'.repeat(2_000_000)))).toMatchObject({
    kind: 'answer',
    status: 200,
  });
  expect(bytes).toBeGreaterThan(4_000_000);
});
