import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import { parseBuffer } from 'music-metadata';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { whyUnreadable } from '../../platform/file-error.ts';

/**
 * The files a campaign sends along: attachments, faxed documents, audio. They stay inside the campaign's folder, links
 * followed: a campaign from elsewhere must not send `/etc/passwd` along.
 */
export type CampaignFiles = {
  /** A file's size, or what is wrong with it. Answers are kept. */
  readonly check: (path: string, kind: FileKind) => Promise<CheckedFile>;
  /** The contacts, and in place of those whose files cannot be sent the reason. */
  readonly checkContacts: (contacts: AsyncIterable<readonly Contact[]>) => AsyncIterable<readonly Contact[]>;
  /**
   * A file's content.
   *
   * @throws InputError when it cannot be read, or all that were read are more than a run may have
   */
  readonly read: (path: string) => Promise<Buffer>;
};

/** `audio`: WAV, 16-bit, 8000 Hz (interface.md, 2.7 and 8). */
export type FileKind = 'file' | 'audio';

/** `problem` is half a sentence: "it does not exist". */
export type CheckedFile = { readonly bytes: number } | { readonly problem: string };

/** Files of one request together (bytes). */
export const requestLimit = 20 * 1024 * 1024;
/** Files of a run together (bytes): they are stored with it. */
const runLimit = 2 * 1024 * 1024 * 1024;
/** Answers of `check` that are kept. */
const keptAnswers = 100_000;

/** @param folder the campaign's; paths are relative to it */
export async function openCampaignFiles(folder: string): Promise<CampaignFiles> {
  const root = await realpath(folder);
  const checked = new LRUCache<string, CheckedFile>({ max: keptAnswers });
  let stored = 0;

  const look = async (path: string, kind: FileKind): Promise<CheckedFile> => {
    const key = `${kind} ${path}`;
    const known = checked.get(key);
    if (known) return known;
    const found = await checkFile(root, path, kind).catch((error: unknown) => ({
      problem: whyUnreadable(error, path),
    }));
    checked.set(key, found);
    return found;
  };

  const wrongWith = async ({
    files,
    audio,
  }: Envelope): Promise<{ column: string; detail: string } | undefined> => {
    const parts = [
      ...files.map(({ path }, index) => ({ column: `files.${index}.file`, path, kind: 'file' as const })),
      ...Object.entries(audio).map(([column, path]) => ({ column, path, kind: 'audio' as const })),
    ];
    let bytes = 0;
    for (const { column, path, kind } of parts) {
      const found = await look(path, kind);
      if ('problem' in found)
        return { column, detail: `the file "${path}" cannot be sent along: ${found.problem}` };
      bytes += found.bytes;
      if (bytes > requestLimit) return { column, detail: tooLarge };
    }
    return undefined;
  };

  return {
    check: look,
    async *checkContacts(contacts) {
      for await (const batch of contacts) {
        const checked: Contact[] = [];
        for (const contact of batch) {
          const wrong = hasFiles(contact) ? await wrongWith(contact.envelope) : undefined;
          const { file, line } = contact;
          checked.push(wrong ? { kind: 'rejected', file, line, reason: 'invalid', ...wrong } : contact);
        }
        yield checked;
      }
    },
    async read(path) {
      try {
        // Looked at again: between the check of a contact and the run it may have become another file.
        const found = await checkFile(root, path, 'file');
        if ('problem' in found) throw new Error(found.problem);
        stored += found.bytes;
        if (stored > runLimit)
          throw new Error(`the files of a run are over ${gibibytes(runLimit)} GiB together`);
        return await readFile(await pathInside(root, path));
      } catch (error) {
        const what = `The file cannot be sent along: ${whyUnreadable(error, path)}.`;
        throw new InputError([{ where: path, what }], { cause: error });
      }
    },
  };
}

function hasFiles(contact: Contact): contact is Extract<Contact, { kind: 'contact' }> {
  if (contact.kind === 'rejected') return false;
  const { files, audio } = contact.envelope;
  return files.length > 0 || Object.keys(audio).length > 0;
}

export const tooLarge = `the files are over ${requestLimit / 1024 / 1024} MiB together`;

async function checkFile(root: string, path: string, kind: FileKind): Promise<CheckedFile> {
  const inside = await pathInside(root, path);
  const found = await stat(inside);
  if (found.isDirectory()) return { problem: 'it is a folder' };
  if (!found.isFile()) return { problem: 'it is not a regular file' };
  if (found.size > requestLimit) return { problem: tooLarge };
  if (found.size === 0) return { problem: 'it is empty' };
  await access(inside, constants.R_OK);
  const problem = kind === 'audio' ? await wrongAudio(await readFile(inside)) : undefined;
  return problem === undefined ? { bytes: found.size } : { problem };
}

/** The real path, because a symbolic link may lead out too. */
async function pathInside(root: string, path: string): Promise<string> {
  const real = await realpath(resolve(root, path));
  if (!real.startsWith(join(root, sep))) throw new Error("it lies outside of the campaign's folder");
  return real;
}

const expectedAudio = 'expected a WAV file, PCM, 16-bit, 8000 Hz';

async function wrongAudio(data: Buffer): Promise<string | undefined> {
  try {
    const { format } = await parseBuffer(
      data,
      { mimeType: 'audio/wav' },
      { duration: false, skipCovers: true },
    );
    const { container, codec, bitsPerSample, sampleRate, numberOfSamples = 0 } = format;
    if (container !== 'WAVE' || codec === undefined) return `${expectedAudio}; this is none`;
    if (codec !== 'PCM' || bitsPerSample !== 16 || sampleRate !== 8000) {
      return `${expectedAudio}; got ${codec}, ${bitsPerSample ?? '?'}-bit, ${sampleRate ?? '?'} Hz`;
    }
    return numberOfSamples > 0 ? undefined : `${expectedAudio}; it holds no sound`;
  } catch {
    return `${expectedAudio}; this is none`;
  }
}

function gibibytes(bytes: number): number {
  return bytes / 1024 ** 3;
}
