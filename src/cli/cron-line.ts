import type { Shell } from './shell.ts';

/**
 * A crontab's line that starts a command in a folder. All paths are absolute: cron has neither the PATH of a terminal
 * nor its folder.
 */
export function cronLine(
  times: string,
  { program }: Pick<Shell, 'program'>,
  folder: string,
  words: readonly string[],
): string {
  const command = [...program, ...words].map(shellWord).join(' ');
  // cron reads a plain % as the end of the line.
  return `${times} cd ${shellWord(folder)} && ${command}`.replaceAll('%', '\\%');
}

/** Quotes a word for sh where necessary. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
