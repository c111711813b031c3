import { expect, test } from 'vitest';
import { isSamePerson, type Person } from '../../src/engine/persons.ts';

const cli = (name: string): Person => ({ name, via: 'cli' });
const api = (name: string): Person => ({ name, via: 'api' });

test.each([
  [api('ann'), api('ann')],
  [api('Ann'), api('ann')],
  [api(' ann  lee'), api('ann lee ')],
  [api('ann'), api('a\u200bnn')],
  [api('Ａnn'), api('ann')],
  [api('ann'), cli('ann@desk')],
  [cli('ANN@Desk'), api('ann')],
  [cli('ann@desk'), cli('Ann@other')],
  [cli('1000@4f2e'), cli('1000@9c11')],
])('%j and %j are one person', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([true, true]);
});

test.each([
  [api('ann'), api('bob')],
  [cli('ann@desk'), cli('bob@desk')],
  [api('ann@one.example'), api('ann@other.example')],
  [api('ann@one.example'), cli('ann@desk')],
  [api('@desk'), api('')],
  [api('ann'), { name: 'schedule ann', via: 'schedule' }],
] as const)('%j and %j are two persons', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([false, false]);
});
