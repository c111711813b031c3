import { readFile, realpath } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { RowFolder } from '../../campaign/files.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import {
  type CampaignFolder,
  type CheckedFile,
  checkFile,
  checkFileAgain,
  type FileKind,
  maxBytesOfRequest,
  pathInside,
  requireFoldersWithoutOwnFiles,
  tooLargeText,
} from './file-check.ts';
import { fileIdentityCheck } from './own-files.ts';

/**
 * The files a campaign sends along: attachments, faxed documents, audio. They stay inside the campaign's folder, links
 * followed: a campaign from elsewhere must not send `/etc/passwd` along. Those that a contact's row names stay inside the
 * folder before the placeholder. Hidden files, YAML files and the files of the campaign itself are never sent.
 */
export type CampaignFiles = {
  /** A file that is the same for all contacts: its size, or what is wrong with it. Answers are kept. */
  readonly check: (path: string, kind: FileKind) => Promise<CheckedFile>;
  /** The contacts, and in place of those whose files cannot be sent the reason. */
  readonly checkContacts: (contacts: AsyncIterable<readonly Contact[]>) => AsyncIterable<readonly Contact[]>;
  /** A file's content. @throws InputError when it cannot be read, or all that were read are more than a run may have */
  readonly read: (path: string) => Promise<Buffer>;
};

/** Files of a run together (bytes): they are stored with it. */
const maxBytesOfRun = 2 * 1024 * 1024 * 1024;
const maxCachedChecks = 100_000;

export type FileRules = {
  /** Absolute paths of the campaign's own files. */
  readonly ownFiles: readonly string[];
  /** The folder of each path with a placeholder, by the column that a rejected contact is told. */
  readonly rowFolders: ReadonlyMap<string, RowFolder>;
  /** Most bytes of a run's files together. */
  readonly maxTotalBytes?: number;
};

/**
 * @param folder the campaign's; paths are relative to it
 * @throws InputError when one of the campaign's own files is in a folder that rows may choose from
 */
export async function openCampaignFiles(
  folder: string,
  { ownFiles, rowFolders, maxTotalBytes = maxBytesOfRun }: FileRules = {
    ownFiles: [],
    rowFolders: new Map(),
  },
): Promise<CampaignFiles> {
  const root = await realpath(folder);
  await requireFoldersWithoutOwnFiles(root, ownFiles, rowFolders);
  const campaignFolder: CampaignFolder = { root, isOwnFile: await fileIdentityCheck(ownFiles) };
  // With `max`, it would take the room for all of them at once, which costs more than the answers of most campaigns.
  const checked = new LRUCache<string, CheckedFile>({ maxSize: maxCachedChecks, sizeCalculation: () => 1 });
  const chosenByCampaign = new Set<string>();
  let storedBytes = 0;

  const checkOnce = async (path: string, kind: FileKind, rowFolder?: string): Promise<CheckedFile> => {
    const key = JSON.stringify([kind, path, rowFolder]);
    const known = checked.get(key);
    if (known) return known;
    const found = await checkFile(campaignFolder, path, kind, rowFolder).catch((error: unknown) => ({
      problem: unreadableReason(error, path),
    }));
    checked.set(key, found);
    return found;
  };

  const findFileProblem = async ({
    files,
    audio,
  }: Envelope): Promise<{ column: string; detail: string } | undefined> => {
    const parts = [
      ...files.map(({ path }, index) => ({ column: `files.${index}.file`, path, kind: 'file' as const })),
      ...Object.entries(audio).map(([column, path]) => ({ column, path, kind: 'audio' as const })),
    ];
    let bytes = 0;
    for (const { column, path, kind } of parts) {
      const found = await checkOnce(path, kind, rowFolders.get(column)?.folder);
      if ('problem' in found)
        return { column, detail: `the file "${path}" cannot be sent along: ${found.problem}` };
      bytes += found.bytes;
      if (bytes > maxBytesOfRequest) return { column, detail: tooLargeText };
    }
    return undefined;
  };

  return {
    check: (path, kind) => {
      chosenByCampaign.add(path);
      return checkOnce(path, kind);
    },
    async *checkContacts(contacts) {
      for await (const batch of contacts) {
        const checked: Contact[] = [];
        for (const contact of batch) {
          const wrong = hasFiles(contact) ? await findFileProblem(contact.envelope) : undefined;
          const { file, line } = contact;
          checked.push(wrong ? { kind: 'rejected', file, line, reason: 'invalid', ...wrong } : contact);
        }
        yield checked;
      }
    },
    async read(path) {
      try {
        // Looked at again: between the check of a contact and the run it may have become another file.
        const found = await checkFileAgain(
          campaignFolder,
          path,
          chosenByCampaign.has(path) ? [] : [...rowFolders.values()],
        );
        if ('problem' in found) throw new Error(found.problem);
        storedBytes += found.bytes;
        if (storedBytes > maxTotalBytes)
          throw new Error(`the files of a run are over ${toGibibytes(maxTotalBytes)} GiB together`);
        return await readFile(await pathInside(root, path));
      } catch (error) {
        const what = `The file cannot be sent along: ${unreadableReason(error, path)}.`;
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

function toGibibytes(bytes: number): number {
  return bytes / 1024 ** 3;
}
