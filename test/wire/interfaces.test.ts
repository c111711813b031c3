import { expect, test } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';
import { wireInterface, wireInterfaces } from '../../src/wire/interfaces.ts';

test('every interface is available in all its formats', () => {
  expect(wireInterfaces.map(({ name, format, channels }) => [name, format, channels.join(' ')])).toEqual([
    ['rest-2.02', 'json', 'email sms fax'],
    ['rest-2.02', 'xml', 'email sms fax'],
    ['rest-1.04', 'json', 'email sms fax voice tts'],
    ['rest-1.04', 'xml', 'email sms fax voice tts'],
    ['rest-1.02', 'json', 'email sms fax voice tts'],
    ['rest-1.02', 'xml', 'email sms fax voice tts'],
    ['soap-tts', 'xml', 'tts'],
  ]);
});

test('an unavailable combination is an input error that names the available ones', () => {
  expect(() => wireInterface('soap-tts', 'json')).toThrow(InputError);
  expect(() => wireInterface('soap-tts', 'json')).toThrow(/soap-tts, format json.*rest-2\.02 in json/s);
});
