import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join, relative } from 'node:path';
import type { Problem } from '../domain/problems.ts';
import { projectFolder } from '../platform/project.ts';
import type { Settings } from './settings.ts';

/** Where to set the environment variables that are not set; undefined if all are. */
export function adviseUnset(
  problems: readonly Problem[],
  { workingFolder, envFiles = [] }: Settings,
): string | undefined {
  const names = [...new Set(problems.flatMap(({ unset }) => unset ?? []))];
  if (names.length === 0) return undefined;
  const set = `Set ${names.join(' and ')} in the environment, or in`;
  const read = envFiles.filter((path) => path !== devNull).map((path) => relative(workingFolder, path));
  if (read.length > 0) return `${set} ${read.join(' or ')}, which was read.`;
  const path = join(projectFolder(workingFolder), '.env');
  return `${set} ${relative(workingFolder, path)}, which ${existsSync(path) ? 'was not read' : 'does not exist'}.`;
}
