import { stat } from 'node:fs/promises';
import { readFileBytes } from '../../contacts/bytes.ts';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';

/**
 * Opens a file that a campaign or an option names.
 *
 * @param path absolute
 * @param shown the same as the user wrote it
 * @param kind what it is, such as "contact file"
 * @returns its bytes, and its name as errors show it
 * @throws InputError when there is no such file, at the place that names it
 */
export async function openFile(
  path: string,
  shown: string,
  where: string,
  kind: string,
): Promise<{ readonly bytes: AsyncIterable<Buffer>; readonly shown: string }> {
  try {
    await stat(path);
  } catch (error) {
    const what = `The ${kind} ${shown} cannot be read (${unreadableReason(error, shown)}).`;
    throw new InputError([{ where, what }], { cause: error });
  }
  return { bytes: readFileBytes(path, shown), shown };
}
