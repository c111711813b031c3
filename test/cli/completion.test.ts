import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commandFiles, everyCommand } from '../../src/cli/reference/every-command.ts';
import { projectFolder } from '../support/documents.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { volleyInProcess } from '../support/volley.ts';
import { contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const execute = promisify(execFile);
/** The suggested words for a command line after `volley`; the last word is incomplete. */
async function suggest(line: string): Promise<string[]> {
  const { stdout } = await volleyInProcess(['completion', 'suggest', '--', ...line.split(' ')]);
  return stdout.split('\n').flatMap((entry) => entry.split('\t')[0] || []);
}

test('every command has examples, and each of them calls it', async () => {
  const withoutExample = (await everyCommand()).filter(
    ({ name, command: { examples } }) =>
      examples.length === 0 || examples.some(([line]) => !line.includes(`volley ${name}`)),
  );
  expect(withoutExample.map(({ name }) => name)).toEqual([]);
});

test('the help of a subcommand ends with its examples', async () => {
  const { stdout } = await volleyInProcess(['report', 'contacts', '--help']);
  expect(stdout).toMatch(
    /\nExamples:\n {2}# write every row with its result\n {2}volley report contacts latest --out result\.csv\n/,
  );
});

test.each(Object.entries(await commandFiles()))(
  '%s is up to date (otherwise run: npm run docs)',
  async (path, text) => {
    expect(await readFile(join(projectFolder, path), 'utf8')).toBe(text);
  },
);

describe('suggestions', () => {
  test('complete commands and subcommands by their prefix', async () => {
    expect(await suggest('res')).toEqual(['resume', 'resolve']);
    expect(await suggest('billing re')).toEqual(['report', 'reconcile']);
    expect(await suggest('delivery-reports mi')).toEqual(['missing']);
  });

  test('complete options that are not given yet, and those that can be repeated', async () => {
    expect(await suggest('plan --json --c')).toEqual(['--contacts', '--check', '--color']);
    expect(await suggest('plan --json --j')).toEqual([]);
    expect(await suggest('report contacts --state pending --st')).toEqual(['--state']);
  });

  test('complete the values of an option, also after =', async () => {
    expect(await suggest('report contacts --state un')).toEqual(['undelivered', 'unknown']);
    expect(await suggest('report contacts --format=x')).toEqual(['--format=xlsx']);
    expect(await suggest('schema ca')).toEqual(['campaign']);
  });

  test('do not take the value of an option for a command', async () => {
    expect(await suggest('--time-zone run ru')).toEqual(['run', 'runs']);
  });

  test('leave files to the shell', async () => {
    expect(await suggest('run camp')).toEqual([':files']);
    expect(await suggest('billing report --out x')).toEqual([':files']);
  });
});

describe('in a project with a run', () => {
  const scene = useSandboxScene({ 'campaign.yaml': smsCampaignYaml, 'contacts.csv': contactsCsv(1) });

  test('suggestions complete its id and its accounts', async () => {
    const { stdout } = await scene.command(['run', 'campaign.yaml', '--json']);
    const { run } = JSON.parse(stdout);
    const runs = await scene.command(['completion', 'suggest', '--', 'status', '']);
    expect(runs.stdout).toBe(`latest\ttest, completed\n${run}\ttest, completed\n`);
    const accounts = await scene.command(['completion', 'suggest', '--', 'account', 'limits', 's']);
    expect(accounts.stdout).toBe('sandbox\trest-2.02\n');
  });
});

test('names that a shell would act on are not suggested, and a summary stays on its line', async () => {
  await using workspace = await makeWorkspace({
    'accounts.yaml': `accounts:
  "$(touch x)": { interface: rest-2.02 }
  "two\\nlines": { interface: rest-2.02 }
  main: { interface: "rest\\nrm -r" }
`,
  });
  const words = ['completion', 'suggest', '--', 'account', 'limits', ''];
  const { stdout } = await volleyInProcess(words, {
    cwd: workspace.folder,
    env: { VOLLEY_ACCOUNTS: 'accounts.yaml' },
  });
  expect(stdout).toBe('main\trest\\x0arm -r\n');
});

test('without a running ledger, only latest is suggested for a run, and nothing is made', async () => {
  await using workspace = await makeWorkspace();
  const ended = await volleyInProcess(['completion', 'suggest', '--', 'status', ''], {
    cwd: workspace.folder,
  });
  expect(ended).toEqual({ code: 0, stdout: 'latest\tthe newest run\n', stderr: '' });
});

test('the script makes bash complete a command line', async () => {
  await using workspace = await makeWorkspace({
    volley: `#!/bin/sh\nexec "${process.execPath}" "${projectFolder}/src/cli/volley.js" "$@"\n`,
    'campaign.yaml': '',
  });
  await chmod(join(workspace.folder, 'volley'), 0o755);
  const script = `eval "$(volley completion bash)"
    complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _volley; echo "\${COMPREPLY[@]}"; }
    complete_line volley report cont
    complete_line volley run camp
    complete_line volley report contacts --state un`;
  const { stdout } = await execute('bash', ['-c', script], {
    cwd: workspace.folder,
    env: { PATH: `${workspace.folder}:${process.env['PATH']}` },
  });
  expect(stdout).toBe('contacts\ncampaign.yaml\nundelivered unknown\n');
});
