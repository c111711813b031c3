import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { projectFolder, readDocument } from '../support/documents.ts';

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ dev: z.boolean().default(false), optional: z.boolean().default(false) }),
  ),
});

/** What an installation gets of the packages of this checkout, without Volley itself. */
const installed = Object.entries(lockFile.parse(JSON.parse(readDocument('package-lock.json'))).packages)
  // Of the embedded Postgres, only that of this machine is here.
  .filter(([path, { dev }]) => path !== '' && !dev && existsSync(join(projectFolder, path)))
  .map(([path, { optional }]) => ({ path, optional }));

/** Bytes on a disk that gives each file and folder whole blocks of 4,096. */
function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? bytesOf(path) : Math.ceil(lstatSync(path).size / 4_096) * 4_096;
    })
    .reduce((sum, bytes) => sum + bytes, 4_096);
}

const megabytesOf = (packages: typeof installed): number =>
  packages.reduce((sum, { path }) => sum + bytesOf(join(projectFolder, path)), 0) / 1e6;

test.each([
  ['README.md', installed],
  ['docs/how-to/deployment.md', installed.filter(({ optional }) => !optional)],
] as const)(
  '%s says how many packages an installation takes, and within a tenth how many megabytes',
  (path, packages) => {
    const document = readDocument(path);
    expect(document).toMatch(new RegExp(`\\b${packages.length} packages\\b`));
    const stated = Number(/packages, (\d+) MB/.exec(document)?.[1]);
    expect(Math.abs(stated / megabytesOf(packages) - 1)).toBeLessThan(0.1);
  },
);
