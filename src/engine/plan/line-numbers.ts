import type { ContactFile } from '../../contacts/contact-file.ts';

/** Counts the lines of all files before one. Those files must have been read. */
export function countLinesBefore(files: readonly ContactFile[]): (file: number) => number {
  const known = [0];
  return (file) => {
    for (let index = known.length; index <= file; index++) {
      known.push((known[index - 1] ?? 0) + (files[index - 1]?.lines() ?? 0));
    }
    return known[file] ?? 0;
  };
}

/** `file`: its name, and its index. */
export type ContactPlace = { readonly file: string; readonly index: number; readonly line: number };

/** Finds the file of a line counted over all files. */
export function createPlaceFinder(
  files: readonly Pick<ContactFile, 'name'>[],
  linesBefore: (file: number) => number,
): (lineOfAll: number) => ContactPlace {
  return (lineOfAll) => {
    const index = files.findLastIndex((_, file) => linesBefore(file) < lineOfAll);
    return { file: files[index]?.name ?? '', index, line: lineOfAll - linesBefore(index) };
  };
}

/** `line 12`, or `b.csv:12` when there are several files. */
export function createFileAndLineFormatter(
  files: readonly Pick<ContactFile, 'name'>[],
  placeOf: (lineOfAll: number) => ContactPlace,
): (lineOfAll: number) => string {
  return (lineOfAll) => {
    const { file, line } = placeOf(lineOfAll);
    return files.length > 1 ? `${file}:${line}` : `line ${line}`;
  };
}
