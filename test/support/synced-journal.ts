import { open } from 'node:fs/promises';

export type SyncedJournal = {
  /** Resolves when the line is on disk. */
  readonly write: (line: unknown) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Waiting = {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Writes JSON lines. Lines written during a sync share the next one. */
export async function openSyncedJournal(path: string): Promise<SyncedJournal> {
  const file = await open(path, 'a');
  let waiting: Waiting[] = [];
  let syncing: Promise<void> | undefined;

  async function sync(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await file.appendFile(batch.map(({ text }) => text).join(''));
        await file.datasync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    syncing = undefined;
  }

  return {
    write: (line) =>
      new Promise((resolve, reject) => {
        waiting.push({ text: `${JSON.stringify(line)}\n`, resolve, reject });
        syncing ??= sync();
      }),
    async close() {
      await syncing;
      await file.close();
    },
  };
}
