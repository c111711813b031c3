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

test("a call signed by the scheme's own library is signed", () => {
  expect(check(signed())).toBe(true);
});

test('the example of the specification is signed', () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const example = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const at = new Date(1_614_265_330_000);
  expect(verifySignature(example, headers, Buffer.from('{"test": 2432232314}'), at)).toHaveLength(32);
});

test('one of several signatures is enough, while the sender changes its key', () => {
  const right = signed()['webhook-signature'] ?? '';
  const other = signed(now, body, Buffer.alloc(32, 'x'))['webhook-signature'] ?? '';
  expect(check({ ...signed(), 'webhook-signature': `v1a,abc ${other} ${right}` })).toBe(true);
  expect(check({ ...signed(), 'webhook-signature': other })).toBe(false);
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s it is not signed', (name) => {
  expect(check({ ...signed(), [name]: '' })).toBe(false);
  const { [name]: _, ...rest } = signed();
  expect(check(rest)).toBe(false);
});

test('a call of up to five minutes ago, or ahead, is taken; none beyond', () => {
  expect([-299, 299].map((seconds) => check(signed(offBy(seconds))))).toEqual([true, true]);
  expect([-302, 302].map((seconds) => check(signed(offBy(seconds))))).toEqual([false, false]);
});

test.each(['1e9', '0x10', ' 1772359200', '1772359200.5', 'NaN', '-1', '9'.repeat(30)])(
  'a time written as %j is none',
  (timestamp) => {
    expect(check({ ...signed(), 'webhook-timestamp': timestamp })).toBe(false);
  },
);

test('another body, another id and another version of the signature are not signed', () => {
  expect(check(signed(), `${body} `)).toBe(false);
  expect(check({ ...signed(), 'webhook-id': 'msg_2' })).toBe(false);
  const signature = signed()['webhook-signature'] ?? '';
  expect(check({ ...signed(), 'webhook-signature': signature.replace('v1,', 'v2,') })).toBe(false);
  expect(check({ ...signed(), 'webhook-signature': signature.replace('v1,', '') })).toBe(false);
});

test('bytes that are not UTF-8 are signed as they are: others in their place are another body', () => {
  const content = '\ufffd';
  expect(check(signed(now, content), Buffer.from(content))).toBe(true);
  expect(check(signed(now, content), Buffer.from([0xff]))).toBe(false);
});
