import { createHash, hash } from 'node:crypto';
import type { Contact } from '../../domain/contacts.ts';
import { destinationFields, type Envelope } from '../../domain/message.ts';
import { TextHash } from '../../platform/text-hash.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

type FingerprintSubject = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: string;
};

/**
 * A digest of what a run sends: campaign name, account, channel; and for each valid contact the address, destination
 * fields, request-level values and attached files.
 *
 * It does not depend on the order of contacts, nor on names and formats of contact files. Timing, rate, chunk size
 * and suppressions are not part of it.
 */
export type Fingerprint = {
  readonly watch: (
    contacts: AsyncIterable<readonly Contact[]>,
  ) => AsyncGenerator<readonly Contact[], void, undefined>;
  /** Adds the content of attached files to the digest. */
  readonly watchFiles: (readFile: (path: string) => Promise<Buffer>) => (path: string) => Promise<Buffer>;
  /** The files of all contacts so far. */
  readonly paths: () => ReadonlySet<string>;
  /** 32 bytes over everything added so far. */
  readonly digest: () => Buffer;
  /** A SHA-256 of the valid contacts in their order, with their lines and time zones. */
  readonly contents: () => string;
  /** How many contacts were read, by file. */
  readonly rows: () => readonly number[];
  /** The SHA-256 of each file that was read, by path. */
  readonly files: () => ReadonlyMap<string, string>;
};

export function createFingerprint({ campaign, account, channel }: FingerprintSubject): Fingerprint {
  const contactSum = createSum();
  const fileSum = createSum();
  const paths = new Set<string>();
  const fileDigests = new Map<string, string>();
  const inOrder = createHash('sha256');
  const rows: number[] = [];
  const text = new TextHash();
  const envelopeHash = memoizeByEnvelope((envelope) => {
    for (const { path } of envelope.files) paths.add(path);
    for (const path of Object.values(envelope.audio)) paths.add(path);
    return hashEnvelope(envelope);
  });
  return {
    async *watch(contacts) {
      for await (const batch of contacts) {
        const places = new Int32Array(placeSize * batch.length);
        for (const [index, contact] of batch.entries()) {
          rows[contact.file] = (rows[contact.file] ?? 0) + 1;
          if (contact.kind === 'rejected') continue;
          const { low, high } = envelopeHash(contact.envelope);
          text.begin().addNumber(low).addNumber(high).add(contact.address);
          // A fixed order: which column fills which field does not change what is sent.
          for (const field of destinationFields) text.add(contact.destination[field] ?? '\0');
          contactSum.add(text.finish());
          const first = placeSize * index;
          places[first] = text.low;
          places[first + 1] = text.high;
          places[first + 2] = contact.file;
          places[first + 3] = contact.line;
          if (contact.zones !== undefined) places[first + 4] = text.begin().add(contact.zones).finish().low;
        }
        inOrder.update(places);
        yield batch;
      }
    },
    watchFiles: (readFile) => async (path) => {
      const data = await readFile(path);
      const digest = hash('sha256', data);
      fileDigests.set(path, digest);
      fileSum.add(text.begin().add(path).add(digest).finish());
      return data;
    },
    paths: () => paths,
    contents: () => inOrder.copy().digest('hex'),
    rows: () => Array.from(rows, (count) => count ?? 0),
    files: () => fileDigests,
    digest: () =>
      hash(
        'sha256',
        JSON.stringify([campaign, account, channel, contactSum.read(), fileSum.read()]),
        'buffer',
      ),
  };
}

/** Adds the content of these files to the digest, unless they were read before. */
export async function readUnreadFiles(
  fingerprint: Pick<Fingerprint, 'files' | 'watchFiles'>,
  paths: Iterable<string>,
  readFile: (path: string) => Promise<Buffer>,
): Promise<void> {
  const read = fingerprint.watchFiles(readFile);
  for (const path of paths) if (!fingerprint.files().has(path)) await read(path);
}

/** Numbers for a contact in the digest of `contents`. */
const placeSize = 5;

function hashEnvelope({ fields, keypads, files, audio }: Envelope): Hashed {
  const text = new TextHash();
  const sum = { low: 0, high: 0 };
  const add = (...parts: readonly string[]): void => {
    text.begin();
    for (const part of parts) text.add(part);
    text.finish();
    sum.low = (sum.low + text.low) | 0;
    sum.high = (sum.high + text.high) | 0;
  };
  for (const name in fields) add('field', name, fields[name] ?? '');
  for (const name in audio) add('audio', name, audio[name] ?? '');
  if (keypads.length > 0) add('keypads', JSON.stringify(keypads));
  if (files.length > 0) add('files', JSON.stringify(files));
  return sum;
}

type Hashed = { readonly low: number; readonly high: number };

/** Does not depend on the order of hashes. Collisions gain an attacker nothing. */
function createSum() {
  const sum = new Uint32Array(2);
  return {
    add({ low, high }: Hashed): void {
      sum[0] = (sum[0] ?? 0) + low;
      sum[1] = (sum[1] ?? 0) + high;
    },
    read: (): string => sum.join(' '),
  };
}
