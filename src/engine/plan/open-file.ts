import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { readFileBytes } from '../../contacts/bytes.ts';
import { InputError } from '../../domain/problems.ts';
import { whyUnreadable } from '../../platform/file-error.ts';
import type { Settings } from '../settings.ts';

/**
 * Opens a file that a campaign names.
 *
 * @param kind what it is, such as "contact file"
 * @returns its bytes, and its name as errors show it
 * @throws InputError when there is no such file, at the place that names it
 */
export async function openFile(
  path: string,
  { workingFolder }: Pick<Settings, 'workingFolder'>,
  where: string,
  kind: string,
): Promise<{ readonly bytes: AsyncIterable<Buffer>; readonly shown: string }> {
  const shown = relative(workingFolder, path);
  try {
    await stat(path);
  } catch (error) {
    const what = `The ${kind} ${shown} cannot be read (${whyUnreadable(error)}).`;
    throw new InputError([{ where, what }], { cause: error });
  }
  return { bytes: readFileBytes(path, shown), shown };
}
