import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../src/server/receiver.ts';
import { sendRaw, statusesOf } from '../support/raw-http.ts';
import { emptyInbox, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let receiver: Receiver;
const path = `/webhook/main/${token}`;

beforeAll(async () => {
  receiver = await startReceiver(opened.context, receiverOptions(opened));
});
afterAll(async () => {
  await receiver.close();
});
beforeEach(() => emptyInbox(opened));

const bytes = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x0d, 0x0a, 0x7d]);

const raw = (head: string, body: Uint8Array = new Uint8Array()) =>
  sendRaw(
    receiver.url,
    Buffer.concat([Buffer.from(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'), body]),
  );

test.each([
  'application/json',
  'application/json; charset=utf-16',
  'application/json; x',
  'application/json;;;',
  'text/plain; charset=nonsense',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/xml, text/xml',
  'nonsense',
  '/',
  '*/*',
  'a'.repeat(200),
])('a delivery report is stored byte for byte with any content type: %s', async (contentType) => {
  const answer = await raw(
    `POST ${path} HTTP/1.1\r\nContent-Type: ${contentType}\r\nContent-Length: 7`,
    bytes,
  );
  expect(statusesOf(answer)).toEqual([200]);
  expect(await inboxOf(opened)).toMatchObject([
    { body: bytes, content_type: contentType, headers: { 'content-type': contentType } },
  ]);
});

test('a delivery report without a content type is stored', async () => {
  expect(statusesOf(await raw(`POST ${path} HTTP/1.1\r\nContent-Length: 7`, bytes))).toEqual([200]);
  expect(await inboxOf(opened)).toMatchObject([{ body: bytes, content_type: '' }]);
});

test('delivery reports with an empty content type and without a body are stored', async () => {
  const empty = `POST ${path} HTTP/1.1\r\nContent-Type:\r\nContent-Length: 7`;
  expect(statusesOf(await raw(empty, bytes))).toEqual([200]);
  expect(statusesOf(await raw(`POST ${path} HTTP/1.1`))).toEqual([200]);
  expect((await inboxOf(opened)).map(({ body }) => body.length).sort()).toEqual([0, 7]);
});

test('a delivery report in chunks is stored as one body', async () => {
  const body = Buffer.from('3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n');
  expect(statusesOf(await raw(`POST ${path} HTTP/1.1\r\nTransfer-Encoding: chunked`, body))).toEqual([200]);
  expect(await inboxOf(opened)).toMatchObject([{ body: Buffer.from('{"a":1}') }]);
});

test('a compressed delivery report is stored as it came', async () => {
  const head = `POST ${path} HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 7`;
  expect(statusesOf(await raw(head, bytes))).toEqual([200]);
  expect(await inboxOf(opened)).toMatchObject([{ body: bytes, headers: { 'content-encoding': 'gzip' } }]);
});

test.each([
  'MessageID=a%20b&Status=SUCCESS&Message=%C3%BC+%00%zz',
  'a=1?b=2',
  '',
  '?',
  'nonsense',
  'Message=~!*\'()[]{}|\\^`"<>',
])('the query string of a GET is stored as the body, byte for byte: %j', async (query) => {
  expect(statusesOf(await raw(`GET ${path}?${query} HTTP/1.1`))).toEqual([200]);
  expect(await inboxOf(opened)).toMatchObject([{ body: Buffer.from(query, 'latin1') }]);
});

test('a GET with an invalid byte in its address is not stored', async () => {
  expect(statusesOf(await raw(`GET ${path}?Message=\xfc HTTP/1.1`))).toEqual([400]);
  expect(await inboxOf(opened)).toEqual([]);
});

test('a GET of 30 kB is stored as a delivery report', async () => {
  const query = `Message=${'%E2%82%AC'.repeat(3_300)}`;
  const answer = await request(`${receiver.url}${path}?${query}`);
  expect(answer.statusCode).toBe(200);
  expect((await inboxOf(opened))[0]?.body.length).toBe(query.length);
});

test('meaningless delivery reports are stored and answered 200', async () => {
  for (const body of ['', 'null', '[]', '<', '<!DOCTYPE x>', '\0', '{"__proto__":{}}']) {
    const answer = await request(receiver.url + path, { method: 'POST', body });
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
  }
  expect(await inboxOf(opened)).toHaveLength(7);
});

test('a header that came twice is stored with both values', async () => {
  const head = `POST ${path} HTTP/1.1\r\nContent-Length: 7\r\nX-Sender: a\r\nContent-Type: a/a\r\nContent-Type: b/b\r\nX-Sender: b`;
  expect(statusesOf(await raw(head, bytes))).toEqual([200]);
  expect((await inboxOf(opened))[0]?.headers).toMatchObject({
    'x-sender': 'a, b',
    'content-type': 'a/a, b/b',
  });
});
