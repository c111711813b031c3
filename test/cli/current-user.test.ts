import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { currentUser } from '../../src/cli/current-user.ts';
import { parsePerson } from '../../src/cli/options.ts';

test('the current user is the user of the process, at this machine', () => {
  expect(currentUser({})).toBe(`${userInfo().username}@${hostname()}`);
  expect(currentUser({ SUDO_USER: '', USER: 'ann', LOGNAME: 'ann' }, true)).toBe(currentUser({}));
});

test('the current user of root through sudo is the person who called sudo', () => {
  expect(currentUser({ SUDO_USER: 'ann' }, true)).toBe(`ann@${hostname()}`);
});

test('a user who is not root stays the same user with the variables of sudo', () => {
  expect(currentUser({ SUDO_USER: 'ann' }, false)).toBe(currentUser({}));
});

test.each(['', ' ', 'a\nb', 'a\u0000', 'a\u202eb', 'a\ud800', 'x'.repeat(201)])(
  '%j is not the name of a person',
  (name) => {
    expect(() => parsePerson(name)).toThrow('the name of a person');
  },
);

test.each(['ann', 'ann@desk', 'Ánn Ó Lee', '王'])('%j is the name of a person', (name) => {
  expect(parsePerson(` ${name} `)).toBe(name);
});
