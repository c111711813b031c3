import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../../domain/problems.ts';
import { makeProcessFolder, removeLeftFolders } from '../../platform/process-folder.ts';
import { count } from '../../platform/sentence.ts';

/** A file that a person has sent to this process, until it is used. */
export type KeptFile = {
  readonly id: string;
  /** The name that the person gave it. */
  readonly name: string;
  readonly path: string;
};

/** The files of all persons, each found by its owner only. */
export type KeptFiles = {
  /**
   * @param owner whose sessions may find it
   * @throws InputError when later ones have replaced it before it was whole
   */
  readonly keep: (owner: string, name: string, bytes: Readable) => Promise<KeptFile>;
  /** Finds a file of the owner; undefined after an hour. */
  readonly find: (owner: string, id: string) => KeptFile | undefined;
  readonly drop: (id: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Milliseconds. */
const maxAge = 3_600_000;
const maxInAll = 30;

type Kept = KeptFile & {
  readonly owner: string;
  readonly deletion: NodeJS.Timeout;
  /** Ends the writing of a file that is still arriving. */
  readonly writing: AbortController;
};

/**
 * Keeps files in a folder that only this user can read. Removes those that killed processes left.
 *
 * @param purpose letters and `-`, for the name of the folder
 * @param maxOfOwner the oldest is deleted for a new one
 */
export function createKeptFiles(purpose: string, maxOfOwner: number): KeptFiles {
  const kept = new Map<string, Kept>();
  let folder: string | undefined;
  removeLeftFolders(purpose);

  const drop = async (id: string): Promise<void> => {
    const file = kept.get(id);
    if (!file) return;
    kept.delete(id);
    clearTimeout(file.deletion);
    file.writing.abort();
    await rm(file.path, { force: true });
  };
  /** Counts files that are still arriving too: many at once are no more than are kept. */
  const add = async (file: Kept): Promise<void> => {
    const all = [...kept.values()];
    const own = all.filter(({ owner }) => owner === file.owner);
    const tooMany =
      own.length >= maxOfOwner
        ? own.slice(0, own.length - maxOfOwner + 1)
        : all.slice(0, Math.max(0, all.length - maxInAll + 1));
    kept.set(file.id, file);
    await Promise.all(tooMany.map(({ id }) => drop(id)));
  };

  return {
    async keep(owner, name, bytes) {
      folder ??= makeProcessFolder(purpose);
      const id = randomUUID();
      const path = join(folder, id);
      const writing = new AbortController();
      const deletion = setTimeout(() => drop(id), maxAge).unref();
      const file = { id, name, path, owner, deletion, writing };
      await add(file);
      try {
        const written = await open(path, 'wx', 0o600);
        await pipeline(bytes, written.createWriteStream(), { signal: writing.signal });
      } catch (error) {
        const wasReplaced = writing.signal.aborted;
        await drop(id);
        // A file that was replaced before it was opened.
        await rm(path, { force: true });
        throw wasReplaced ? replaced(name, maxOfOwner) : error;
      }
      return file;
    },
    find(owner, id) {
      const file = kept.get(id);
      return file?.owner === owner ? file : undefined;
    },
    drop,
    async close() {
      await Promise.all([...kept.keys()].map(drop));
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}

function replaced(name: string, max: number): InputError {
  const what = `Later files replaced it before it had arrived: at most ${count(max, 'file')} of a person ${max === 1 ? 'is' : 'are'} kept. Choose it again.`;
  return new InputError([{ where: name, what }]);
}
