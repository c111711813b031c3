import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** An invoice that a person has sent to this process, until it is compared and downloaded. */
export type KeptInvoice = {
  readonly id: string;
  /** As the person called it. */
  readonly name: string;
  readonly path: string;
};

export type KeptInvoices = {
  /** @param owner whose sessions may find it */
  readonly keep: (owner: string, name: string, bytes: Readable) => Promise<KeptInvoice>;
  /** Undefined for an unknown one, for that of another owner, and after an hour. */
  readonly find: (owner: string, id: string) => KeptInvoice | undefined;
  readonly drop: (id: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

const maxAge = 3_600_000;
/** The oldest is deleted for a new one. */
const maxOfOwner = 3;
const maxInAll = 30;

/** Keeps files in a folder that only this user can read. */
export function createKeptInvoices(now: () => Date): KeptInvoices {
  const kept = new Map<string, KeptInvoice & { readonly owner: string; readonly until: number }>();
  let folder: Promise<string> | undefined;

  const drop = async (id: string): Promise<void> => {
    const invoice = kept.get(id);
    kept.delete(id);
    if (invoice) await rm(invoice.path, { force: true });
  };
  const makeRoom = async (owner: string): Promise<void> => {
    const all = [...kept.values()];
    const old = all.filter(({ until }) => until <= now().getTime());
    const left = all.filter((invoice) => !old.includes(invoice));
    const own = left.filter((invoice) => invoice.owner === owner);
    const tooMany =
      own.length >= maxOfOwner ? own.slice(0, 1) : left.slice(0, Math.max(0, left.length - maxInAll + 1));
    for (const { id } of [...old, ...tooMany]) await drop(id);
  };

  return {
    async keep(owner, name, bytes) {
      folder ??= mkdtemp(join(tmpdir(), 'volley-invoices-'));
      const id = randomUUID();
      const path = join(await folder, id);
      try {
        await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
      await makeRoom(owner);
      const invoice = { id, name, path, owner, until: now().getTime() + maxAge };
      kept.set(id, invoice);
      return invoice;
    },
    find(owner, id) {
      const invoice = kept.get(id);
      return invoice?.owner === owner && invoice.until > now().getTime() ? invoice : undefined;
    },
    drop,
    async close() {
      kept.clear();
      if (folder) await rm(await folder, { recursive: true, force: true });
    },
  };
}
