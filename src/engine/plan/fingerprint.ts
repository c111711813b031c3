import { hash } from 'node:crypto';
import type { Contact } from '../../domain/contacts.ts';
import { destinationFields, type Envelope } from '../../domain/message.ts';
import { TextHash } from '../../platform/text-hash.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

/** What a run is for, besides its recipients and what they are sent. */
export type FingerprintSubject = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: string;
};

/**
 * Tells two runs apart by what they send: the campaign's name, the account, the channel, and for each valid contact the
 * address, the destination fields and every request-level value of its message, with the content of the files that are sent
 * along. Equal in whatever order the contacts come, and however their files are named, packed and written. When, how fast
 * and in which portions the requests are sent is no part of it, nor are suppressions: a recipient who has asked for no more
 * messages since makes no other run of it.
 */
export type Fingerprint = {
  readonly watch: (
    contacts: AsyncIterable<readonly Contact[]>,
  ) => AsyncGenerator<readonly Contact[], void, undefined>;
  /** Passes on what reads a file that is sent along, and takes its content in. */
  readonly watchFiles: (readFile: (path: string) => Promise<Buffer>) => (path: string) => Promise<Buffer>;
  /** Of the files that are sent along with the contacts so far. */
  readonly paths: () => ReadonlySet<string>;
  /** 32 bytes of what was taken in so far. */
  readonly digest: () => Buffer;
};

export function createFingerprint({ campaign, account, channel }: FingerprintSubject): Fingerprint {
  const contactSum = createSum();
  const fileSum = createSum();
  const paths = new Set<string>();
  const text = new TextHash();
  const envelopeHash = memoizeByEnvelope((envelope) => {
    for (const { path } of envelope.files) paths.add(path);
    for (const path of Object.values(envelope.audio)) paths.add(path);
    return hashEnvelope(envelope);
  });
  return {
    async *watch(contacts) {
      for await (const batch of contacts) {
        for (const contact of batch) {
          if (contact.kind === 'rejected') continue;
          const { low, high } = envelopeHash(contact.envelope);
          text.begin().addNumber(low).addNumber(high).add(contact.address);
          // In an order of its own: which column fills which field says nothing of what is sent.
          for (const field of destinationFields) text.add(contact.destination[field] ?? '\0');
          contactSum.add(text.finish());
        }
        yield batch;
      }
    },
    watchFiles: (readFile) => async (path) => {
      const data = await readFile(path);
      fileSum.add(text.begin().add(path).add(hash('sha256', data)).finish());
      return data;
    },
    paths: () => paths,
    digest: () =>
      hash(
        'sha256',
        JSON.stringify([campaign, account, channel, contactSum.read(), fileSum.read()]),
        'buffer',
      ),
  };
}

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

/** A digest of many texts that does not depend on their order: their hashes, added up. No attacker gains by a collision. */
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
