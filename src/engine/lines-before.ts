import type { ContactFile } from '../contacts/read.ts';

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
