import { open } from 'node:fs/promises';

export type SyncedJournal = {
  /** Resolves when the line is on the disk. */
  readonly write: (line: unknown) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Waiting = {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** A file of one JSON text a line. Lines that come while others are being synced share the next sync. */
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
