import { expect, test } from 'vitest';
import { readCredentials } from '../../src/wire/report-credentials.ts';

const read = (body: string, method = 'POST') => readCredentials({ method, body: Buffer.from(body) });

test.each([
  ['JSON', 'POST', '{"Sender":"ann@example.com","APIKey":"0012345"}'],
  ['XML', 'POST', '<r><Sender>ann@example.com</Sender><APIKey>0012345</APIKey></r>'],
  ['a form', 'POST', 'Sender=ann%40example.com&APIKey=0012345'],
  ['a query string', 'GET', 'Sender=ann%40example.com&APIKey=0012345'],
])('Sender and APIKey are read out of %s', (_, method, body) => {
  expect(read(body, method)).toEqual({ sender: 'ann@example.com', apiKey: '0012345' });
});

test.each(['', '{}', 'null', '[]', '<r/>', 'a=b', '\u0000', '{"__proto__":{"Sender":"a","APIKey":"b"}}'])(
  'a body without them has none: %j',
  (body) => {
    expect(read(body)).toBeUndefined();
  },
);

test('a field of a form that stands there twice has no value', () => {
  expect(read('Sender=ann&APIKey=right&APIKey=wrong')).toEqual({ sender: 'ann' });
});

test('one that is a list or a map in JSON has no value', () => {
  expect(read('{"Sender":["ann"],"APIKey":{"a":"b"}}')).toBeUndefined();
});
