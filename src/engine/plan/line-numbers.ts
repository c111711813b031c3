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

/** `file` is null when there is only one file. */
type LineInFile = { readonly file: string | null; readonly line: number };

/** Finds the file of a line counted over all files. */
export function createLineFinder(
  files: readonly Pick<ContactFile, 'name'>[],
  linesBefore: (file: number) => number,
): (lineOfAll: number) => LineInFile {
  return (lineOfAll) => {
    const file = files.findLastIndex((_, index) => linesBefore(index) < lineOfAll);
    return { file: files.length > 1 ? (files[file]?.name ?? '') : null, line: lineOfAll - linesBefore(file) };
  };
}

/** `line 12`, or `b.csv:12`. */
export function createFileAndLineFormatter(
  ...where: Parameters<typeof createLineFinder>
): (lineOfAll: number) => string {
  const find = createLineFinder(...where);
  return (lineOfAll) => {
    const { file, line } = find(lineOfAll);
    return file === null ? `line ${line}` : `${file}:${line}`;
  };
}
