import { readFile } from 'node:fs/promises';

export type JournalLine = {
  readonly at: string;
  readonly interface: string;
  readonly format: string;
  readonly channel: string | null;
  readonly messageId: string | null;
  readonly recipients: readonly string[];
  readonly status: number;
};

/** The sandbox's journal: every request it received, in order. */
export async function readJournal(path: string): Promise<JournalLine[]> {
  const content = await readFile(path, 'utf8');
  return content
    .split('\n')
    .filter((line) => line !== '')
    .map((line): JournalLine => JSON.parse(line));
}
