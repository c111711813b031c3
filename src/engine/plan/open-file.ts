import { stat } from 'node:fs/promises';
import { readFileBytes } from '../../contacts/file-bytes.ts';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';

/**
 * @param path absolute
 * @param shown as the user wrote it
 * @param kind such as "contact file"
 * @throws InputError when the file does not exist
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
