import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../../domain/problems.ts';
import { makeProcessFolder, removeLeftFolders } from '../../platform/process-folder.ts';

/** An invoice that a person has sent to this process, until it is compared and downloaded. */
export type KeptInvoice = {
  readonly id: string;
  /** The name that the person gave it. */
  readonly name: string;
  readonly path: string;
};

/** The invoices of all persons, each found by its owner only. */
export type KeptInvoices = {
  /**
   * @param owner whose sessions may find it
   * @throws InputError when later ones have replaced it before it was whole
   */
  readonly keep: (owner: string, name: string, bytes: Readable) => Promise<KeptInvoice>;
  /** Finds an invoice of the owner; undefined after an hour. */
  readonly find: (owner: string, id: string) => KeptInvoice | undefined;
  readonly drop: (id: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

const maxAge = 3_600_000;
/** The oldest is deleted for a new one. */
const maxOfOwner = 3;
const maxInAll = 30;

type Kept = KeptInvoice & {
  readonly owner: string;
  readonly until: number;
  /** Ends the writing of a file that is still arriving. */
  readonly writing: AbortController;
};

const purpose = 'volley-invoices';

/** Keeps files in a folder that only this user can read. Removes those that killed processes left. */
export function createKeptInvoices(now: () => Date): KeptInvoices {
  const kept = new Map<string, Kept>();
  let folder: string | undefined;
  removeLeftFolders(purpose);

  const drop = async (id: string): Promise<void> => {
    const invoice = kept.get(id);
    kept.delete(id);
    invoice?.writing.abort();
    if (invoice) await rm(invoice.path, { force: true });
  };
  /** Counts files that are still arriving too: many at once are no more than are kept. */
  const add = async (invoice: Kept): Promise<void> => {
    const all = [...kept.values()];
    const old = all.filter(({ until }) => until <= now().getTime());
    const left = all.filter((each) => !old.includes(each));
    const own = left.filter(({ owner }) => owner === invoice.owner);
    const tooMany =
      own.length >= maxOfOwner
        ? own.slice(0, own.length - maxOfOwner + 1)
        : left.slice(0, Math.max(0, left.length - maxInAll + 1));
    kept.set(invoice.id, invoice);
    await Promise.all([...old, ...tooMany].map(({ id }) => drop(id)));
  };

  return {
    async keep(owner, name, bytes) {
      folder ??= makeProcessFolder(purpose);
      const id = randomUUID();
      const path = join(folder, id);
      const writing = new AbortController();
      const invoice = { id, name, path, owner, until: now().getTime() + maxAge, writing };
      await add(invoice);
      try {
        const file = await open(path, 'wx', 0o600);
        await pipeline(bytes, file.createWriteStream(), { signal: writing.signal });
      } catch (error) {
        const wasReplaced = writing.signal.aborted;
        await drop(id);
        // A file that was replaced before it was opened.
        await rm(path, { force: true });
        throw wasReplaced ? replaced(name) : error;
      }
      return invoice;
    },
    find(owner, id) {
      const invoice = kept.get(id);
      return invoice?.owner === owner && invoice.until > now().getTime() ? invoice : undefined;
    },
    drop,
    async close() {
      kept.clear();
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}

function replaced(name: string): InputError {
  const what = `Later files replaced it before it had arrived: ${maxOfOwner} are kept. Choose it again.`;
  return new InputError([{ where: name, what }]);
}
