import { expect, test } from 'vitest';
import { hasDuplicateKey } from '../../src/wire/json.ts';
import { decodeSendAnswer } from '../../src/wire/send-answer.ts';

const isFound = (text: string): boolean => hasDuplicateKey(Buffer.from(text), JSON.parse(text));

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"a":{"b":1,"b":2}}',
  '[{"a":1},{"b":1,"c":[{"d":1,"d":1}]}]',
  '{"a":{"b":1},"a":{"c":[{"d":1}]}}',
  '{"a" \n:1,"a"\t: 2}',
  '{"\\"":1,"\\"":2}',
  '{"":1,"":2}',
])('a repeated key is found in %s', (text) => {
  expect(isFound(text)).toBe(true);
});

test.each([
  '{}',
  '"a"',
  '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
  '{"a":"b\\": 1, \\"a\\": 2","b":":"}',
  '["a", ": ", "a", ":"]',
  '{"a\\\\":1,"a":"\\\\"}',
  '{"__proto__":1,"a":{"__proto__":2}}',
])('no repeated key is found in %s', (text) => {
  expect(isFound(text)).toBe(false);
});

test('an answer of any depth and length is read without an error', () => {
  const deep = `{"MessageID":"A","Result":"Success","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(decodeSendAnswer(Buffer.from(deep))).toMatchObject({ kind: 'success', messageId: 'A' });
  const wide = `{"MessageID":"A","Result":"Success","x":[${'"y",'.repeat(200_000)}"${'z'.repeat(300_000)}"]}`;
  expect(decodeSendAnswer(Buffer.from(wide))).toMatchObject({ kind: 'success', messageId: 'A' });
});
