import { expect, test } from 'vitest';
import { commandList } from '../../src/cli/command-list.ts';
import { everyCommand } from '../../src/cli/reference/every-command.ts';
import { volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('volley --help begins with the five commands of a day, and then lists every other command', async () => {
  const { code, stdout } = await volley(['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: volley \[options\] \[command\]\n\n[^:]+: [^:]+\n\nEvery day:\n/);
  const [, everyDay = ''] = /\nEvery day:\n(.*?)\n\n/s.exec(stdout) ?? [];
  expect([...everyDay.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)).toEqual([
    'plan',
    'run',
    'status',
    'resume',
    'report',
  ]);
  for (const name of Object.keys(commandList)) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
});

/** They run until they are stopped, or print no result. */
const withoutJson = [
  ...['serve', 'worker', 'dashboard', 'demo', 'sandbox', 'schema', 'completion'],
  ...['schedule sync', 'db migrate', 'db stop', 'cells map'],
];

test('every command that prints a result has --json', async () => {
  const lacking = (await everyCommand())
    .filter(({ command: { options } }) => !options.some(({ flags }) => flags === '--json'))
    .map(({ name }) => name);
  expect(lacking.toSorted()).toEqual(withoutJson.toSorted());
});

test('on a Node that is too old, volley prints one line and ends', async () => {
  await using workspace = await makeWorkspace({
    'old-node.cjs': `Object.defineProperty(process.versions, 'node', { value: '20.19.4' });`,
  });
  const { code, stdout, stderr } = await volley(['runs'], {
    nodeFlags: ['--require', `${workspace.folder}/old-node.cjs`],
  });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^volley needs Node 22\.19 or later, and this is .*npx --no-install volley`\.\n$/);
});
