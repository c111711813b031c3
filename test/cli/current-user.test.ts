import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { currentUser } from '../../src/cli/current-user.ts';
import { parsePerson } from '../../src/cli/option-readers.ts';

const own = process.geteuid?.();
const wholeMap = '         0          0 4294967295\n';

test('the current user is the user of the process, at this machine', () => {
  expect(currentUser({})).toBe(`${userInfo().username}@${hostname()}`);
  expect(currentUser({ SUDO_USER: '', USER: 'ann', LOGNAME: 'ann' }, own, wholeMap)).toBe(currentUser({}));
});

test('the current user of root through sudo is the person who called sudo', () => {
  expect(currentUser({ SUDO_USER: 'ann' }, 0, wholeMap)).toBe(`ann@${hostname()}`);
});

test('a user who is not root stays the same user with the variables of sudo', () => {
  expect(currentUser({ SUDO_USER: 'ann' }, 4242, wholeMap)).toBe(`4242@${hostname()}`);
});

test.each([
  ['the user of the machine who made it', '0 4242 1', 0, '4242'],
  ['the same user, in the range of ids of a container', '0 4242 1\n1 100000 65536', 33, '100032'],
  ['an unknown user, where it is within another namespace', '0 0 1', 0, 'unknown user'],
  ['an unknown user, where nothing is mapped', '', 65_534, 'unknown user'],
  ['an unknown user, where another id is mapped', '0 4242 1', 65_534, 'unknown user'],
])('a user of a user namespace is %s, whatever SUDO_USER says', (_, uidMap, uid, name) => {
  expect(currentUser({ SUDO_USER: 'bob' }, uid, uidMap)).toBe(`${name}@${hostname()}`);
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
