import { expect, test } from 'vitest';
import { isSamePerson } from '../../src/engine/persons.ts';

test.each([
  ['ann', 'ann'],
  ['Ann', 'ann'],
  [' ann  lee', 'ann lee '],
  ['ann', 'a\u200bnn'],
  ['Ａnn', 'ann'],
  ['ann', 'ann@desk'],
  ['ANN@Desk', 'ann'],
])('%j and %j are one person', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([true, true]);
});

test.each([
  ['ann', 'bob'],
  ['ann@desk', 'bob@desk'],
  ['ann@desk', 'ann@other'],
  ['@desk', ''],
  ['ann', 'schedule ann'],
])('%j and %j are two', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([false, false]);
});
