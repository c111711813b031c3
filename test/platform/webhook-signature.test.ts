import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifySignature } from '../../src/platform/webhook-signature.ts';

const key = Buffer.alloc(32, 'k');
const now = new Date('2026-03-01T10:00:00.500Z');
const body = '{"MessageID":"ü"}';

/** Signs with the scheme's own library. */
function signed(at = now, content = body, by: Uint8Array = key): Record<string, string> {
  const signature = new Webhook(Buffer.from(by).toString('base64')).sign('msg_1', at, content);
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  };
}

const check = (headers: Record<string, string>, content: string | Buffer = body) =>
  verifySignature(key, headers, Buffer.from(content), now) !== undefined;

const offBy = (seconds: number) => new Date(now.getTime() + seconds * 1000);

test("verifySignature accepts a call that the scheme's own library signed", () => {
  expect(check(signed())).toBe(true);
});

test('verifySignature accepts the example in the specification', () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const example = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const at = new Date(1_614_265_330_000);
  expect(verifySignature(example, headers, Buffer.from('{"test": 2432232314}'), at)).toHaveLength(32);
});

test('verifySignature accepts one valid signature among several, as during a change of keys', () => {
  const right = signed()['webhook-signature'] ?? '';
  const other = signed(now, body, Buffer.alloc(32, 'x'))['webhook-signature'] ?? '';
  expect(check({ ...signed(), 'webhook-signature': `v1a,abc ${other} ${right}` })).toBe(true);
  expect(check({ ...signed(), 'webhook-signature': other })).toBe(false);
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
  'verifySignature rejects a call without %s',
  (name) => {
    expect(check({ ...signed(), [name]: '' })).toBe(false);
    const { [name]: _, ...rest } = signed();
    expect(check(rest)).toBe(false);
  },
);

test('verifySignature accepts a time up to five minutes in the past or future, and no other', () => {
  expect([-299, 299].map((seconds) => check(signed(offBy(seconds))))).toEqual([true, true]);
  expect([-302, 302].map((seconds) => check(signed(offBy(seconds))))).toEqual([false, false]);
});

test.each(['1e9', '0x10', ' 1772359200', '1772359200.5', 'NaN', '-1', '9'.repeat(30)])(
  'verifySignature rejects the time %j',
  (timestamp) => {
    expect(check({ ...signed(), 'webhook-timestamp': timestamp })).toBe(false);
  },
);

test('verifySignature rejects another body, id or version of the signature', () => {
  expect(check(signed(), `${body} `)).toBe(false);
  expect(check({ ...signed(), 'webhook-id': 'msg_2' })).toBe(false);
  const signature = signed()['webhook-signature'] ?? '';
  expect(check({ ...signed(), 'webhook-signature': signature.replace('v1,', 'v2,') })).toBe(false);
  expect(check({ ...signed(), 'webhook-signature': signature.replace('v1,', '') })).toBe(false);
});

test('bytes that are not UTF-8 are signed unchanged, so other such bytes are rejected', () => {
  const content = '\ufffd';
  expect(check(signed(now, content), Buffer.from(content))).toBe(true);
  expect(check(signed(now, content), Buffer.from([0xff]))).toBe(false);
});
