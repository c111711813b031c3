import { expect, test } from 'vitest';
import type { Person } from '../../../src/domain/access.ts';
import { findSamePerson, isSamePerson } from '../../../src/engine/plan/approve-run.ts';

const cli = (name: string): Person => ({ name, via: 'cli' });
const api = (name: string): Person => ({ name, via: 'api' });
const dashboard = (name: string): Person => ({ name, via: 'dashboard' });

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
  [cli('unknown user@desk'), cli('ann@desk')],
  [api('ann'), cli('unknown user@desk')],
  [dashboard('ann@shop.example'), cli('ann@desk')],
  [cli('Ann@desk'), api('ann@shop.example')],
])('%j and %j are one person', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([true, true]);
});

test.each([
  [api('ann'), api('bob')],
  [cli('ann@desk'), cli('bob@desk')],
  [api('ann@one.example'), api('ann@other.example')],
  [dashboard('ann.lee@shop.example'), cli('ann@desk')],
  [dashboard('bea@shop.example'), cli('ann@desk')],
  [api('@desk'), api('')],
  [api('ann'), { name: 'schedule ann', via: 'schedule' }],
] as const)('%j and %j are two persons', (one, other) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([false, false]);
});

const nightly: Person = { name: 'schedule nightly.yaml', via: 'schedule' };

test.each([
  [
    'planned it',
    { planner: api('ann'), schedulers: [], makers: [] },
    { person: cli('ann@desk'), makers: [] },
  ],
  [
    'put in its schedule',
    { planner: nightly, schedulers: [cli('cron@desk'), cli('ann@desk')], makers: [] },
    { person: api('ann'), makers: [] },
  ],
  [
    "made the planner's token",
    { planner: api('eve'), schedulers: [], makers: [api('bob'), cli('ann@desk')] },
    { person: cli('ann@desk'), makers: [] },
  ],
  [
    "planned it and made the approver's token",
    { planner: cli('ann@desk'), schedulers: [], makers: [] },
    { person: api('eve'), makers: [api('bob'), cli('ann@desk')] },
  ],
  [
    "put in its schedule and made the approver's token",
    { planner: nightly, schedulers: [cli('ann@desk')], makers: [] },
    { person: api('eve'), makers: [cli('ann@desk')] },
  ],
])('a person who %s is no second person', (kind, planners, approver) => {
  expect(findSamePerson(planners, approver)).toMatchObject({ kind });
});

test('a third person may have made the tokens of the planner and of the approver', () => {
  const makers = [cli('root@desk')];
  const planners = { planner: api('ann'), schedulers: [], makers };
  expect(findSamePerson(planners, { person: api('bea'), makers })).toBeUndefined();
});
