import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ClaimMark, type ClaimMarks, createMemoryClaimMarks } from '../domain/claim-marks.ts';
import { hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { isProcessRunning, ownProcessToken } from './process-identity.ts';
import { errorMessage } from './server-files.ts';

/**
 * Milliseconds between syncs to disk. A power cut loses marks since the last sync; a killed process loses none.
 */
const flushInterval = 1_000;

const marksSchema = z.array(
  z.object({
    run: z.string(),
    slice: z.number(),
    owner: z.string(),
    version: z.number(),
    at: z.string(),
  }),
);

const replacementSchema = z.object({ location: z.string().nullable() });

/**
 * Keeps marks in `claims/` in VOLLEY_HOME: a file for each process in the ledger's folder, and a file for each
 * replaced ledger. Overwriting a file takes microseconds: the data stays in the page cache, which survives the
 * process.
 *
 * @param onProblem called once when marks cannot be written; from then on they are only in memory
 */
export function openClaimMarks(home: string, onProblem: (what: string) => void): ClaimMarks {
  const memory = createMemoryClaimMarks();
  const ownName = `${ownProcessToken()}-${randomBytes(3).toString('hex')}`;
  const folderOf = (ledger: string): string => join(home, 'claims', ledger);
  let file: { readonly ledger: string; readonly descriptor: number; length: number } | undefined;
  let hasFailed = false;
  let flushedAt = 0;

  function open(ledger: string) {
    // Another container with this home may consider this process ended, and remove its file.
    if (file?.ledger === ledger && fstatSync(file.descriptor).nlink > 0) return file;
    if (file) closeSync(file.descriptor);
    file = undefined;
    // Keeps a home that Volley creates out of git.
    if (makeFolder(home, 0o700)) writeFileSync(join(home, '.gitignore'), '*\n');
    makeFolder(folderOf(ledger), 0o700);
    file = { ledger, descriptor: openSync(join(folderOf(ledger), ownName), 'w', 0o600), length: 0 };
    return file;
  }

  function write(ledger: string, marks: readonly ClaimMark[]): void {
    memory.write(ledger, marks);
    if (hasFailed) return;
    try {
      const opened = open(ledger);
      // One write over all earlier bytes, so a reader sees the old or the new marks, even after a kill.
      const line = `${JSON.stringify(marks)}\n`.padEnd(opened.length);
      writeSync(opened.descriptor, line, 0);
      opened.length = line.length;
      if (performance.now() - flushedAt < flushInterval) return;
      flushedAt = performance.now();
      fdatasync(opened.descriptor, () => undefined);
    } catch (error) {
      reportOnce(
        `${folderOf(ledger)} cannot be written (${errorMessage(error)}), so this machine will not know its last claims when this process is gone: a ledger that is restored from a backup may then be sent from without a warning.`,
      );
    }
  }

  function reportOnce(what: string): void {
    if (!hasFailed) onProblem(what);
    hasFailed = true;
  }

  const replacementFile = (ledger: string): string => join(home, 'claims', `${ledger}.succeeded`);

  /** Ignores marks of another user. */
  function listMarkFiles(ledger: string): string[] {
    try {
      return readdirSync(folderOf(ledger));
    } catch (error) {
      if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR'))
        reportOnce(
          `${folderOf(ledger)} cannot be read (${errorMessage(error)}): what this machine claimed last is not known here.`,
        );
      return [];
    }
  }

  function readOtherMarks(ledger: string): { readonly name: string; readonly marks: readonly ClaimMark[] }[] {
    return listMarkFiles(ledger)
      .filter((name) => name !== ownName)
      .map((name) => ({ name, marks: readMarks(join(folderOf(ledger), name)) }));
  }

  return {
    read: (ledger) => [...memory.read(ledger), ...readOtherMarks(ledger).flatMap(({ marks }) => marks)],
    write,
    prune(ledger) {
      const ended = readOtherMarks(ledger).filter(
        ({ name }) => !isProcessRunning(name.slice(0, name.lastIndexOf('-'))),
      );
      const newest = ended.toSorted((one, other) => timeOf(other.marks).localeCompare(timeOf(one.marks)));
      try {
        for (const { name } of newest.slice(1)) rmSync(join(folderOf(ledger), name), { force: true });
      } catch {
        // Few files stay, and a later call removes them.
      }
    },
    markReplaced(former, location) {
      memory.markReplaced(former, location);
      try {
        makeFolder(join(home, 'claims'), 0o700);
        writeFileSync(replacementFile(former), `${JSON.stringify({ location })}\n`, { mode: 0o600 });
      } catch (error) {
        reportOnce(
          `${replacementFile(former)} cannot be written (${errorMessage(error)}): this machine will not know a backup of the former ledger by its name.`,
        );
      }
    },
    replacedAt(ledger) {
      try {
        return replacementSchema.parse(JSON.parse(readFileSync(replacementFile(ledger), 'utf8')));
      } catch {
        return memory.replacedAt(ledger);
      }
    },
    close() {
      if (file) closeSync(file.descriptor);
      file = undefined;
    },
  };
}

function timeOf(marks: readonly ClaimMark[]): string {
  return marks[0]?.at ?? '';
}

/** Returns none for a file that a power cut left incomplete. */
function readMarks(path: string): readonly ClaimMark[] {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n');
    return marksSchema.parse(JSON.parse(line));
  } catch {
    return [];
  }
}
