import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type CommandCall, type CommandResult, runCommand } from '../../src/platform/run-command.ts';
import { makeWorkspace } from '../support/workspace.ts';

const never = new AbortController().signal;
const environment = { PATH: process.env['PATH'] ?? '' };

function run(
  command: readonly string[],
  changes: Partial<CommandCall> = {},
  cutOff: AbortSignal = never,
): Promise<CommandResult> {
  return runCommand(
    { command, folder: '/', environment, input: '', timeout: 10_000, grace: 200, ...changes },
    cutOff,
  );
}

/** False for zombies. */
function lives(pid: string): boolean {
  const status = `/proc/${pid.trim()}/stat`;
  return existsSync(status) && !/\) [ZX] /.test(readFileSync(status, 'utf8'));
}

test('a command gets its input, folder and environment, and no other', async () => {
  await using workspace = await makeWorkspace();
  const end = await run(['sh', '-c', 'cat; pwd; env'], {
    folder: workspace.folder,
    environment: { ...environment, VOLLEY_EVENT: 'paused' },
    input: 'input\n',
  });
  const [input, folder, ...names] = end.output.split('\n');
  expect([input, folder, end.problem]).toEqual(['input', workspace.folder, undefined]);
  const own = ['PATH', 'VOLLEY_EVENT', 'PWD', 'OLDPWD', 'SHLVL', '_'];
  expect(names.flatMap((line) => line.split('=')[0] || []).filter((name) => !own.includes(name))).toEqual([]);
});

test('no shell interprets the arguments of a command', async () => {
  const end = await run(['printf', '%s|', '$(id) ; `id` && *', '']);
  expect(end.output).toBe('$(id) ; `id` && *||');
});

test.each([
  ['ends with another code than 0', ['sh', '-c', 'exit 7'], 'ended with 7'],
  ['is ended by a signal', ['sh', '-c', 'kill -9 $$'], 'was ended by SIGKILL'],
  ['is not there', ['./no-such-program'], 'could not be started (ENOENT)'],
  ['cannot be written down', ['echo', 'a\0b'], 'could not be started'],
])('a command that %s is reported as a problem', async (_, words, problem) => {
  expect((await run(words)).problem).toBe(problem);
});

test('a command may end before it has read its input', async () => {
  expect(await run(['true'], { input: 'x'.repeat(1_000_000) })).toEqual({ output: '' });
});

test('runCommand keeps the first 4 KiB of any output', async () => {
  const { output, problem } = await run(['sh', '-c', 'head -c 3000000 /dev/zero; echo late >&2']);
  expect([output.length, problem]).toEqual([4_096, undefined]);
});

test('a command that exceeds its timeout is killed with all its children, even if they ignore SIGTERM', async () => {
  await using workspace = await makeWorkspace();
  const script = 'trap "" TERM; sleep 60 & echo $! > pid; wait; sleep 60';
  const { problem } = await run(['sh', '-c', script], { folder: workspace.folder, timeout: 200 });
  expect(problem).toBe('did not end within 200 ms');
  expect(lives(await workspace.read('pid'))).toBe(false);
});

test('processes that a command leaves behind are killed', async () => {
  await using workspace = await makeWorkspace();
  const { problem } = await run(['sh', '-c', 'sleep 60 & echo $! > pid'], { folder: workspace.folder });
  expect(problem).toBe(undefined);
  for (let look = 0; look < 50 && lives(await workspace.read('pid')); look++) await sleep(10);
  expect(lives(await workspace.read('pid'))).toBe(false);
});

test('runCommand does not wait for a process that left the group and keeps the output open', async () => {
  const { output, problem } = await run(['sh', '-c', 'setsid sleep 5 & sleep 0.1; echo here']);
  expect([output, problem]).toEqual(['here\n', undefined]);
});

test('an abort of runCommand ends its command', async () => {
  const stop = new AbortController();
  const running = run(['sleep', '60'], {}, stop.signal);
  await sleep(50);
  stop.abort();
  expect((await running).problem).toBe('was stopped, because the process had to end');
});
