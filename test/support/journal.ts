import { readFile } from 'node:fs/promises';
import type { JournalLine } from '../../src/sandbox/journal.ts';

/** Reads all requests that the sandbox received, in order. */
export async function readJournal(path: string): Promise<JournalLine[]> {
  const content = await readFile(path, 'utf8');
  return content
    .split('\n')
    .filter((line) => line !== '')
    .map((line): JournalLine => JSON.parse(line));
}
