import { expect, test } from 'vitest';
import { commandList } from '../../src/cli/command-list.ts';
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
  expect({ words, code }).toEqual({ words, code: 0 });
  return JSON.parse(stderr.split('\n').at(-1) ?? '').sort();
}

const parsers = ['commander', 'fastest-levenshtein'];

test('volley --version loads only the packages that parse the command line', async () => {
  expect(await packagesLoadedBy('--version')).toEqual(parsers);
});

test.each(['', ...Object.keys(commandList)])(
  'volley %s --help loads only the packages that parse the command line',
  async (command) => {
    expect(await packagesLoadedBy(...(command === '' ? [] : [command]), '--help')).toEqual(parsers);
  },
);

test('the reader of an option is loaded when the command line has the option', async () => {
  expect(await packagesLoadedBy('report', 'recipient', '--country', 'NZ', '--help')).toContain(
    'libphonenumber-js',
  );
});

test('the value of an option is not taken for a command', async () => {
  const { code, stderr } = await volley(['--time-zone', 'run', 'status']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^--time-zone <zone>: expected a time zone/),
  });
  expect((await volley(['--color', 'never', 'status', '--help'])).stdout).toContain('Usage: volley status');
});
