import { expect, test } from 'vitest';
import { personOf, tokenOf } from '../../../src/engine/access/company-sign-in.ts';

const mapping = [{ claim: 'email', value: 'ann@company.example', token: 'chief' }];
const user = 'email';

test.each([[false], ['false'], [undefined], [null]])(
  'an e-mail address gives no token and no name where the provider says of its verification: %s',
  (email_verified) => {
    const claims = { sub: '4711', email: 'ann@company.example', email_verified };
    expect([tokenOf({ mapping }, claims), personOf({ user }, claims)]).toEqual([undefined, undefined]);
  },
);

test.each([[true], ['true']])('a verified e-mail address gives its token and name: %s', (email_verified) => {
  const claims = { sub: '4711', email: 'Ann@Company.example', email_verified };
  expect([tokenOf({ mapping }, claims), personOf({ user }, claims)]).toEqual([
    'chief',
    'ann@company.example',
  ]);
});

test.each([
  [{ preferred_username: 'ann' }, 'ann'],
  [{ preferred_username: 'ann@shop.example' }, 'ann@shop.example'],
  [{ preferred_username: 4711 }, undefined],
  [{ preferred_username: ['ann'] }, undefined],
  [{ preferred_username: ' ' }, undefined],
  [{}, undefined],
])('the claim that the settings name has the name of a person: of %j it is %s', (claims, name) => {
  expect(personOf({ user: 'preferred_username' }, { sub: '4711', ...claims })).toBe(name);
});

test('a name that every object has is no name of a person', () => {
  expect(personOf({ user: 'toString' }, { sub: '4711' })).toBeUndefined();
});
