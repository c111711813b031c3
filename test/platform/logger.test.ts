import { expect, test } from 'vitest';
import { openLogger } from '../../src/platform/logger.ts';
import { maskAddresses } from '../../src/platform/mask-addresses.ts';
import { uncleanLine } from '../support/clean-log.ts';

function logged(level: 'debug' | 'info', values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let line = '';
  const logger = openLogger('debug', 'info', { write: (text) => (line = text) });
  logger[level](values, 'said');
  return JSON.parse(line);
}

test.each([
  ['Key (address)=(+64211234567) already exists', 'Key (address)=(***) already exists'],
  ['no number: 021 123 4567', 'no number: ***'],
  ['to +61 (4) 1234-5678.', 'to ***.'],
  ['"zoe.planted+x@example.co.nz" bounced', '"***" bounced'],
  ['+61 400 000 000x@example.org and +6421 555 1234', '*** *** and ***'],
  ['cannot reach postgres://volley:pass@db.example/volley', 'cannot reach ***/volley'],
])('the logger masks apparent addresses at level info: %s', (text, masked) => {
  expect(logged('info', { reason: text })).toMatchObject({ reason: masked, msg: 'said' });
});

test.each([
  ['It was planned by ann@desk.', 'It was planned by ann@desk.'],
  ['by ann@desk, for zoe@desk and joann@desk', 'by ann@desk, for *** and ***'],
  ['ann@desk.example, not ann@desk', '***, not ann@desk'],
  ['by +6421 555 1234: +6421 555 1234', 'by ***: ***'],
])('maskAddresses keeps the names of Volley users: %s', (text, masked) => {
  expect(maskAddresses(text, ['ann@desk', 'a+b (c)'])).toBe(masked);
});

test('a long text without an address is masked in one pass', () => {
  const text = `${'a'.repeat(400_000)} ${'0'.repeat(400_000)}x +${'1 '.repeat(200_000)}`;
  expect(maskAddresses(text).slice(0, 400_001)).toBe(`${'a'.repeat(400_000)} `);
});

test('the logger shows addresses at level debug', () => {
  expect(logged('debug', { reason: 'to +64211234567' })).toMatchObject({ reason: 'to +64211234567' });
});

test.each([
  { run: '261121-0412345678', messageId: '0412345678041234567804123456780412', account: 'a@b' },
  { reason: 'connect ECONNREFUSED 127.0.0.1:5432', at: '2026-11-21T09:00:00+13:00' },
  { reports: 12, held: true, dueAt: new Date(0) },
])('the logger masks nothing else: %j', (values) => {
  expect(logged('info', values)).toMatchObject(JSON.parse(JSON.stringify(values)));
});

test.each([
  ['{"level":20,"reason":"planted-token-of-the-test"}', true],
  ['{"level":40,"reason":"to +64211234567"}', true],
  ['{"level":20,"reason":"to +64211234567"}', false],
  ['Not of the log: +64211234567', false],
])('the check that tests apply to every log finds a secret or address in %s: %s', (line, found) => {
  const environment = { SEND_TOKEN: 'planted-token-of-the-test', NAME: 'reason' };
  expect(uncleanLine(`all is well\n${line}\n`, environment) !== undefined).toBe(found);
});
