import { codeOf } from '../../platform/file-error.ts';
import { printable } from '../../report/printable.ts';

export class OutputError extends Error {
  constructor(where: string, cause: unknown) {
    super(`${printable(where)} cannot be written: ${whyUnwritable(cause)}.`, { cause });
    this.name = 'OutputError';
  }
}

export const standardOutput = 'Standard output';

/** Other codes keep the words of the system. */
const meanings: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would exceed the size limit',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  ESTALE: 'the network drive is not there any more',
};

function whyUnwritable(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error) ?? '';
  const meaning = meanings[code];
  return meaning === undefined ? error.message : `${meaning} (${code})`;
}
