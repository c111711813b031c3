import { expect, test } from 'vitest';
import { volley } from '../support/volley.ts';

/** Prints the loaded packages as the last line of standard error. */
const listing = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  const packages = new Set();
  registerHooks({
    load(url, context, load) {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name) packages.add(name);
      return load(url, context);
    },
  });
  process.on('exit', () => writeSync(2, '\\n' + JSON.stringify([...packages])));`;

async function packagesLoadedBy(...words: string[]): Promise<readonly string[]> {
  const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(listing)}`];
  const { code, stderr } = await volley(words, { nodeFlags });
  expect(code).toBe(0);
  return JSON.parse(stderr.split('\n').at(-1) ?? '').sort();
}

test.each([['--version'], ['--help']])(
  'volley %s loads only the packages that parse the command line',
  async (word) => {
    expect(await packagesLoadedBy(word)).toEqual(['commander', 'fastest-levenshtein']);
  },
);

test.each(['runs', 'status', 'audit', 'approve', 'resolve', 'report failures'])(
  'volley %s loads packages for its own options only, and none for countries or schemas',
  async (command) => {
    const packages = await packagesLoadedBy(...command.split(' '), '--help');
    for (const other of ['zod', 'libphonenumber-js', 'yaml', 'pg', 'undici', 'pino'])
      expect(packages).not.toContain(other);
  },
);

test('a command does not load another command that has the name of its subcommand', async () => {
  expect(await packagesLoadedBy('report', 'run', '--help')).not.toContain('undici');
});

test('the value of an option is not taken for a command', async () => {
  const { code, stderr } = await volley(['--zone', 'run', 'status']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^--zone <zone>: expected a time zone/),
  });
  expect((await volley(['--color', 'never', 'status', '--help'])).stdout).toContain('Usage: volley status');
});
