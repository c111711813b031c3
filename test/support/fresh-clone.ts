import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { projectFolder } from './documents.ts';

/**
 * A folder like a user's clone with installed packages, including uncommitted changes.
 *
 * @param folder must not exist
 */
export function makeFreshClone(folder: string): void {
  if (existsSync(join(projectFolder, '.git'))) cloneInto(folder);
  else copyInto(folder);
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
}

function cloneInto(folder: string): void {
  git('clone', '--quiet', projectFolder, folder);
  const changed = (option: string): string[] =>
    git('-C', projectFolder, 'ls-files', '-z', '--exclude-standard', option).split('\0').filter(Boolean);
  const deleted = new Set(changed('--deleted'));
  for (const path of deleted) rmSync(join(folder, path), { force: true });
  for (const path of [...changed('--modified'), ...changed('--others')].filter(
    (each) => !deleted.has(each),
  )) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(projectFolder, path), join(folder, path));
  }
}

/** For a project from an archive. */
function copyInto(folder: string): void {
  const excluded = ['node_modules', '.volley'];
  cpSync(projectFolder, folder, { recursive: true, filter: (path) => !excluded.includes(basename(path)) });
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
