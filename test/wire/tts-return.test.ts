import { describe, expect, test } from 'vitest';
import { wireInterface } from '../../src/wire/interfaces.ts';
import { toTtsReturnForm, ttsReturnProblem } from '../../src/wire/tts-return.ts';

const { decodeSendAnswer } = wireInterface('soap-tts', 'xml');
const answer = (text: string) =>
  Buffer.from(
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><r><ttsReturn>${text}</ttsReturn></r></s:Body></s:Envelope>`,
  );

const form = toTtsReturnForm('(Accepted|Queued) as #?([0-9A-Z]+)', 2);

describe('a form of ttsReturn that an account teaches', () => {
  test('is an acceptance with its job number, in any case', () => {
    expect(decodeSendAnswer(answer('accepted as #12AB34CD'))).toMatchObject({ kind: 'unreadable' });
    expect(decodeSendAnswer(answer('accepted as #12AB34CD'), form)).toEqual({
      kind: 'unnamed_success',
      jobNumber: '12AB34CD',
    });
  });

  test('must match the whole text, with a number, and changes no known form', () => {
    for (const text of [
      'Accepted as 12 later',
      'not Accepted as 12',
      'Accepted as FAILED',
      `Accepted as ${'1'.repeat(120)}`,
    ])
      expect(decodeSendAnswer(answer(text), form)).toMatchObject({ kind: 'unreadable' });
    const any = toTtsReturnForm('(.+)', 1);
    expect(decodeSendAnswer(answer('Job 77'), any)).toEqual({ kind: 'unnamed_success', jobNumber: '77' });
    expect(decodeSendAnswer(answer('Missing number4'), any)).toMatchObject({ kind: 'failure' });
  });
});

describe('a pattern is refused', () => {
  test.each([
    ['(a+)+', /repeats a group/],
    ['(a|b)*c', /repeats a group/],
    ['(?=a)(b)', /looks around/],
    ['(?<job>.)', /names a group/],
    ['(a)\\1', /refers to a group/],
    ['a?a?a?a?(a)?', /has 5 of/],
    ['(a', /no regular expression/],
    ['Job [0-9]+', /0 groups, so group 1/],
  ])('%s', (pattern, why) => {
    expect(ttsReturnProblem(pattern, 1)).toMatch(why);
  });

  test('and not for what stands in a class, or is escaped', () => {
    expect(ttsReturnProblem('[*+?{|(]\\+\\(([0-9]{1,8})\\)', 1)).toBeUndefined();
  });
});
