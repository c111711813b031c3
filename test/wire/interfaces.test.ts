import { expect, test } from 'vitest';
import { InputError } from '../../src/domain.ts';
import type { Credentials } from '../../src/gateway/account.ts';
import { wireInterface } from '../../src/wire/interfaces.ts';
import type { WireCredentials } from '../../src/wire/wire.ts';

test('an interface is chosen by its name and format', () => {
  expect(wireInterface('rest-2.02', 'json')).toMatchObject({ name: 'rest-2.02', format: 'json' });
});

test('a combination that is not there is an input error that names those that are', () => {
  expect(() => wireInterface('soap-tts', 'xml')).toThrow(InputError);
  expect(() => wireInterface('soap-tts', 'xml')).toThrow(/soap-tts, format xml.*rest-2\.02 in json/s);
});

test("an account's credentials are what the wire takes", () => {
  const credentials: Credentials = { kind: 'authToken', authToken: 't' };
  const taken: WireCredentials = credentials;
  expect(taken).toBe(credentials);
});
