import { randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ClaimMark, type ClaimMarks, createMemoryClaimMarks } from '../domain/claim-marks.ts';
import { listNotes, openBegunRuns, readNote } from './begun-runs.ts';
import { errorMessage } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { isProcessRunning, ownProcessToken } from './process-identity.ts';

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
 * A mark notes the last claim of a process outside of the ledger: a ledger that was restored from a backup lacks it, and
 * Volley sends nothing from it. Marks are in `claims/` in VOLLEY_HOME: a file for each process in the ledger's folder, and a file for each
 * replaced ledger, and in `runs/` one for each run that this machine began.
 *
 * @param onProblem called for the first problem; from then on marks are only in memory
 */
export function openClaimMarks(home: string, onProblem: (what: string) => void): ClaimMarks {
  const memory = createMemoryClaimMarks();
  const ownFile = createOwnFile(home);
  const begunRuns = openBegunRuns(join(home, 'claims', 'runs'));
  let hasFailed = false;
  const reportOnce = (what: string): void => {
    if (!hasFailed) onProblem(what);
    hasFailed = true;
  };
  const readOtherMarks = (ledger: string): readonly MarkFile[] =>
    listMarkFiles(folderOf(home, ledger), reportOnce)
      .filter((name) => name !== ownFile.name)
      .map((name) => ({ name, marks: readNote(join(folderOf(home, ledger), name), marksSchema) ?? [] }));

  return {
    read: (ledger) => [...memory.read(ledger), ...readOtherMarks(ledger).flatMap(({ marks }) => marks)],
    write(ledger, marks) {
      memory.write(ledger, marks);
      if (hasFailed) return;
      try {
        ownFile.write(ledger, marks);
      } catch (error) {
        reportOnce(
          `The claim marks in ${folderOf(home, ledger)} cannot be written (${errorMessage(error)}). If the ledger is restored from a backup, this machine cannot warn before it sends again. Make the folder writable and restart Volley.`,
        );
      }
    },
    prune: (ledger) => pruneEnded(folderOf(home, ledger), readOtherMarks(ledger)),
    markReplaced(former, location) {
      memory.markReplaced(former, location);
      const file = replacementFile(home, former);
      try {
        makeFolder(join(home, 'claims'), 0o700);
        writeFileSync(file, `${JSON.stringify({ location })}\n`, { mode: 0o600 });
      } catch (error) {
        reportOnce(
          `${file} cannot be written (${errorMessage(error)}). This machine will not recognise a backup of the former ledger. Make the folder writable and restart Volley.`,
        );
      }
    },
    replacedAt: (ledger) =>
      readNote(replacementFile(home, ledger), replacementSchema) ?? memory.replacedAt(ledger),
    writeRun(begun, now) {
      memory.writeRun(begun, now);
      if (hasFailed) return;
      try {
        makeHome(home);
        makeFolder(join(home, 'claims'), 0o700);
        begunRuns.write(begun, now);
      } catch (error) {
        reportOnce(
          `The runs that this machine begins cannot be noted in ${join(home, 'claims')} (${errorMessage(error)}). If the ledger is lost, Volley will not recognise a repetition of them. Make the folder writable and restart Volley.`,
        );
      }
    },
    readRuns(now) {
      try {
        const read = begunRuns.read(now);
        const known = new Set(read.map(({ run }) => run));
        return [...read, ...memory.readRuns(now).filter(({ run }) => !known.has(run))];
      } catch (error) {
        reportOnce(
          `The notes of begun runs in ${join(home, 'claims')} cannot be read (${errorMessage(error)}), so Volley does not recognise a repetition of runs that the ledger lacks. Run Volley as the user who owns the folder.`,
        );
        return memory.readRuns(now);
      }
    },
    close: ownFile.close,
  };
}

function folderOf(home: string, ledger: string): string {
  return join(home, 'claims', ledger);
}

function replacementFile(home: string, ledger: string): string {
  return join(home, 'claims', `${ledger}.replaced`);
}

type MarkFile = { readonly name: string; readonly marks: readonly ClaimMark[] };

/** Makes git ignore a home that Volley created. */
function makeHome(home: string): void {
  if (makeFolder(home, 0o700)) writeFileSync(join(home, '.gitignore'), '*\n');
}

/** This process's file. Overwriting it takes microseconds: the page cache survives the process. */
function createOwnFile(home: string) {
  const name = `${ownProcessToken()}-${randomBytes(3).toString('hex')}`;
  let file: { readonly ledger: string; readonly descriptor: number; length: number } | undefined;
  let flushedAt = 0;

  const close = (): void => {
    if (file) closeSync(file.descriptor);
    file = undefined;
  };
  const open = (ledger: string) => {
    // Another container with this home may consider this process ended, and remove its file.
    if (file?.ledger === ledger && fstatSync(file.descriptor).nlink > 0) return file;
    close();
    makeHome(home);
    const folder = folderOf(home, ledger);
    makeFolder(folder, 0o700);
    file = { ledger, descriptor: openSync(join(folder, name), 'w', 0o600), length: 0 };
    return file;
  };
  const write = (ledger: string, marks: readonly ClaimMark[]): void => {
    const opened = open(ledger);
    // One write over all earlier bytes, so a reader sees the old or the new marks, even after a kill.
    const line = `${JSON.stringify(marks)}\n`.padEnd(opened.length);
    writeSync(opened.descriptor, line, 0);
    opened.length = line.length;
    if (performance.now() - flushedAt < flushInterval) return;
    flushedAt = performance.now();
    fdatasync(opened.descriptor, () => undefined);
  };
  return { name, write, close };
}

/** Returns none, and reports the problem, if the folder cannot be read. */
function listMarkFiles(folder: string, onProblem: (what: string) => void): string[] {
  try {
    return listNotes(folder);
  } catch (error) {
    onProblem(
      `The claim marks in ${folder} cannot be read (${errorMessage(error)}), so Volley does not know what other processes of this machine claimed last. Run Volley as the user who owns the folder.`,
    );
    return [];
  }
}

/** Keeps the newest marks of the ended processes. */
function pruneEnded(folder: string, files: readonly MarkFile[]): void {
  const ended = files.filter(({ name }) => !isProcessRunning(name.slice(0, name.lastIndexOf('-'))));
  const newest = ended.toSorted((one, other) => timeOf(other.marks).localeCompare(timeOf(one.marks)));
  try {
    for (const { name } of newest.slice(1)) rmSync(join(folder, name), { force: true });
  } catch {
    // A few files remain, and a later call removes them.
  }
}

function timeOf(marks: readonly ClaimMark[]): string {
  return marks[0]?.at ?? '';
}
