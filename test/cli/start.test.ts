import { expect, test } from 'vitest';
import { volley } from '../support/volley.ts';

/** Prints, as the last line of standard error, the packages that a process loads. */
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
  'volley %s loads what reads the command line, and no more',
  async (word) => {
    expect(await packagesLoadedBy(word)).toEqual(['commander', 'fastest-levenshtein']);
  },
);

test.each([[['runs', '--help']], [['status', '--help']], [['audit', '--help']], [['approve', '--help']]])(
  'a command loads packages for its own options only: volley %j knows no countries and no schemas',
  async (words) => {
    const packages = await packagesLoadedBy(...words);
    for (const other of ['zod', 'libphonenumber-js', 'yaml', 'pg', 'undici', 'pino'])
      expect(packages).not.toContain(other);
  },
);
