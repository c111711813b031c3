import type { ContactFile } from '../../contacts/read.ts';

/**
 * How many lines the files before one have, so that lines can be counted on from file to file. To be asked for a file
 * once the ones before it have been read.
 */
export function countLinesBefore(files: readonly ContactFile[]): (file: number) => number {
  const known = [0];
  return (file) => {
    for (let index = known.length; index <= file; index++) {
      known.push((known[index - 1] ?? 0) + (files[index - 1]?.lines() ?? 0));
    }
    return known[file] ?? 0;
  };
}

/** Says where a line stands that was counted on from file to file: `line 12`, or `b.csv:12` where there are several files. */
export function placeReader(
  files: readonly Pick<ContactFile, 'name'>[],
  linesBefore: (file: number) => number,
): (lineOfAll: number) => string {
  return (lineOfAll) => {
    const file = files.findLastIndex((_, index) => linesBefore(index) < lineOfAll);
    const line = lineOfAll - linesBefore(file);
    return files.length > 1 ? `${files[file]?.name ?? ''}:${line}` : `line ${line}`;
  };
}
