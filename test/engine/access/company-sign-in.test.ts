import { expect, test } from 'vitest';
import { personOf, tokenOf } from '../../../src/engine/access/company-sign-in.ts';

const mapping = [{ claim: 'email', value: 'ann@company.example', token: 'chief' }];

test.each([[false], ['false'], [undefined], [null]])(
  'an e-mail address gives no token and no name where the provider says of its verification: %s',
  (email_verified) => {
    const claims = { sub: '4711', email: 'ann@company.example', email_verified };
    expect([tokenOf({ mapping }, claims), personOf(claims)]).toEqual([undefined, '4711']);
  },
);

test.each([[true], ['true']])('a verified e-mail address gives its token and name: %s', (email_verified) => {
  const claims = { sub: '4711', email: 'Ann@Company.example', email_verified };
  expect([tokenOf({ mapping }, claims), personOf(claims)]).toEqual(['chief', 'ann@company.example']);
});
