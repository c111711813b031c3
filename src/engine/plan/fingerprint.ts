import { hash } from 'node:crypto';
import type { Contact } from '../../domain/contacts.ts';
import { destinationFields } from '../../domain/message.ts';
import { rememberByEnvelope } from './remember.ts';

/** What a run is for, besides its recipients and what they are sent. */
export type FingerprintHead = {
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
  /** Passes contacts on, and takes them in. */
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

export function openFingerprint({ campaign, account, channel }: FingerprintHead): Fingerprint {
  const contactSum = openSum();
  const fileSum = openSum();
  const paths = new Set<string>();
  const digestOfEnvelope = rememberByEnvelope(({ fields, keypads, files, audio }) => {
    for (const { path } of files) paths.add(path);
    for (const path of Object.values(audio)) paths.add(path);
    return hash('sha256', JSON.stringify([sorted(fields), keypads, files, sorted(audio)]));
  });
  return {
    async *watch(contacts) {
      for await (const batch of contacts) {
        for (const contact of batch) {
          if (contact.kind === 'rejected') continue;
          let text = `${digestOfEnvelope(contact.envelope)}\n${contact.address}`;
          // In an order of its own: which column fills which field says nothing of what is sent.
          for (const field of destinationFields) text += `\n${contact.destination[field] ?? '\0'}`;
          contactSum.add(text);
        }
        yield batch;
      }
    },
    watchFiles: (readFile) => async (path) => {
      const data = await readFile(path);
      fileSum.add(JSON.stringify([path, hash('sha256', data)]));
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

function sorted(fields: Readonly<Record<string, string>>): (readonly [string, string])[] {
  return Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * A digest of many texts that does not depend on their order: their SHA-256, added up word by word. No attacker gains by a
 * collision, so a sum is good enough. As a string of bytes, a hash takes a third of the time that it takes as a Buffer.
 */
function openSum() {
  const words = new Uint32Array(8);
  return {
    add(text: string): void {
      const digest = hash('sha256', text, 'binary');
      for (let word = 0; word < words.length; word++) {
        const [first, second] = [digest.charCodeAt(4 * word), digest.charCodeAt(4 * word + 1)];
        const [third, fourth] = [digest.charCodeAt(4 * word + 2), digest.charCodeAt(4 * word + 3)];
        words[word] = (words[word] ?? 0) + (first | (second << 8) | (third << 16) | (fourth << 24));
      }
    },
    read: (): string => words.join(' '),
  };
}
