import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BegunRun } from '../domain/claim-marks.ts';
import { hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';

/** Bounds the time to read them all: about 20 µs each. */
const maxFiles = 10_000;

/** Old files are looked for at the first write of a process, and again after this many. */
const writesBetweenPrunes = 100;

const begunRun = z.object({
  run: z.string(),
  campaign: z.string(),
  fingerprint: z.string().nullable(),
  ledger: z.string(),
  service: z.string(),
  at: z.string(),
  keptUntil: z.string(),
});

/**
 * A file for each run, so that processes write and delete without waiting for each other.
 *
 * @param folder made at the first write; its parent exists
 */
export function openBegunRuns(folder: string) {
  let writes = 0;

  /** @throws Error of the system, unless the folder does not exist */
  const read = (now: Date): readonly BegunRun[] => {
    const kept = now.toISOString();
    return readAll(folder)
      .filter(({ keptUntil }) => keptUntil > kept)
      .toSorted((one, other) => other.at.localeCompare(one.at));
  };

  const prune = (now: Date): void => {
    const kept = new Set(
      read(now)
        .slice(0, maxFiles)
        .map(({ run }) => run),
    );
    // Not an unreadable one: another process may be writing it.
    for (const { run } of readAll(folder)) if (!kept.has(run)) rmSync(join(folder, run), { force: true });
  };

  /** @throws Error of the system */
  const write = (begun: BegunRun, now: Date): void => {
    const isNew = makeFolder(folder, 0o700);
    if (writes++ % writesBetweenPrunes === 0 && !isNew) prune(now);
    // Without O_TRUNC: a reader takes the first line only, so it sees the old text or the new one.
    const file = openSync(join(folder, begun.run), constants.O_CREAT | constants.O_WRONLY, 0o600);
    try {
      writeSync(file, `${JSON.stringify(begun)}\n`, 0);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    syncFolder(folder);
  };
  return { read, write };
}

function readAll(folder: string): BegunRun[] {
  return listNotes(folder).flatMap((name) => readNote(join(folder, name), begunRun) ?? []);
}

/** The names of the files in a folder that need not exist. @throws Error of the system */
export function listNotes(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** Undefined for a file that a power cut left incomplete, or that another process has deleted. */
export function readNote<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): z.output<Schema> | undefined {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n');
    return schema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Without this, a power cut could lose the name of a new file. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
