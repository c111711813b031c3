import { expect, test } from 'vitest';
import { volley, volleyInProcess } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

const commands = [
  'init',
  'plan',
  'run',
  'resume',
  'runs',
  'status',
  'report',
  'serve',
  'sandbox',
  'audit',
  'token',
  'db',
  'schema',
  'demo',
];

test('volley --help lists every command, and every command has its own help', async () => {
  const { code, stdout } = await volley(['--help']);
  expect(code).toBe(0);
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  const [, everyDay = ''] = /\nEvery day:\n(.*?)\n\n/s.exec(stdout) ?? [];
  expect([...everyDay.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)).toEqual([
    'plan',
    'run',
    'status',
    'resume',
    'report',
  ]);
  const helps = await Promise.all(commands.map((command) => volleyInProcess([command, '--help'])));
  for (const [index, help] of helps.entries()) {
    expect(help.code).toBe(0);
    expect(help.stdout).toContain(`Usage: volley ${commands[index]}`);
  }
});

test('every command that prints a result has --json', async () => {
  const withResults = [
    ['plan'],
    ['run'],
    ['resume'],
    ['runs'],
    ['status'],
    ['report', 'run'],
    ['billing', 'report'],
    ['report', 'campaigns'],
  ];
  const helps = await Promise.all(withResults.map((words) => volleyInProcess([...words, '--help'])));
  for (const { stdout } of helps) expect(stdout).toContain('--json');
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
