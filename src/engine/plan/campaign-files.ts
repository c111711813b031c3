import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Campaign } from '../../campaign/campaign.ts';
import { standardInput } from '../../campaign/contacts-definition.ts';
import { type RowFolder, staticFiles } from '../../campaign/files.ts';
import type { SendingAccount } from '../../campaign/sending-account.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { projectFolder } from '../../platform/project.ts';
import { accountsPath } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import {
  type CampaignFolder,
  type CheckedFile,
  checkFile,
  checkFileAgain,
  createFileIdentityCheck,
  type FileKind,
  maxBytesOfRequest,
  pathInside,
  requireFoldersWithoutOwnFiles,
  tooLargeText,
} from './file-check.ts';

/**
 * The files a campaign sends: attachments, fax documents, audio. All lie inside the campaign's folder, links
 * resolved, so that no campaign can send `/etc/passwd`, and attachments in the folders that the campaign or its account
 * names. Files named by a row lie inside the folder before the
 * placeholder. Hidden files, YAML files and the campaign's own files are never sent.
 */
export type CampaignFiles = {
  /** For files that are the same for all contacts; cached. */
  readonly check: (path: string, kind: FileKind) => Promise<CheckedFile>;
  /** Rejects contacts whose files cannot be sent. */
  readonly checkContacts: (contacts: AsyncIterable<readonly Contact[]>) => AsyncIterable<readonly Contact[]>;
  /** @throws InputError for an unreadable file, or when the run's files exceed the limit */
  readonly read: (path: string) => Promise<Buffer>;
  /** For a digest: the file is not stored with the run. */
  readonly readUnstored: (path: string) => Promise<Buffer>;
};

/** Stored with the run (bytes). */
const maxBytesOfRun = 2 * 1024 * 1024 * 1024;
const maxCachedChecks = 100_000;

export type FileRules = {
  /** Absolute paths. */
  readonly ownFiles: readonly string[];
  /** The folder of each path with a placeholder, by the column that a rejection names. */
  readonly rowFolders: ReadonlyMap<string, RowFolder>;
  /** As in `CampaignFolder`. */
  readonly attachments?: readonly string[] | undefined;
  readonly maxTotalBytes?: number;
};

/** @throws InputError when rows could name one of the campaign's own files */
export async function openCampaignFiles(
  folder: string,
  { ownFiles, rowFolders, attachments, maxTotalBytes = maxBytesOfRun }: FileRules = {
    ownFiles: [],
    rowFolders: new Map(),
  },
): Promise<CampaignFiles> {
  const root = await realpath(folder);
  await requireFoldersWithoutOwnFiles(root, ownFiles, rowFolders);
  const campaignFolder: CampaignFolder = {
    root,
    isOwnFile: await createFileIdentityCheck(ownFiles),
    attachments,
  };
  const checkOnce = createCachedCheck(campaignFolder);
  const chosenByCampaign = new Map<string, FileKind>();
  let storedBytes = 0;
  const countStored = (bytes: number): void => {
    storedBytes += bytes;
    if (storedBytes > maxTotalBytes)
      throw new Error(`the files of a run are over ${toGibibytes(maxTotalBytes)} GiB together`);
  };
  const readChecked = async (path: string, count: (bytes: number) => void): Promise<Buffer> => {
    try {
      const isAudio = chosenByCampaign.get(path) === 'audio';
      const found = await checkFileAgain(
        isAudio ? { ...campaignFolder, attachments: undefined } : campaignFolder,
        path,
        chosenByCampaign.has(path) ? [] : [...rowFolders.values()],
      );
      if ('problem' in found) throw new Error(found.problem);
      count(found.bytes);
      return await readFile(await pathInside(root, path));
    } catch (error) {
      const what = `The file cannot be sent: ${unreadableReason(error, path)}.`;
      throw new InputError([{ where: path, what }], { cause: error });
    }
  };
  return {
    check: (path, kind) => {
      chosenByCampaign.set(path, kind);
      return checkOnce(path, kind);
    },
    async *checkContacts(contacts) {
      for await (const batch of contacts) {
        const checked: Contact[] = [];
        for (const contact of batch) {
          const problem =
            hasFiles(contact) && (await findFileProblem(contact.envelope, rowFolders, checkOnce));
          const { file, line } = contact;
          checked.push(problem ? { kind: 'rejected', file, line, reason: 'invalid', ...problem } : contact);
        }
        yield checked;
      }
    },
    read: (path) => readChecked(path, countStored),
    readUnstored: (path) => readChecked(path, () => {}),
  };
}

type CachedCheck = (path: string, kind: FileKind, rowFolder?: string) => Promise<CheckedFile>;

function createCachedCheck(campaignFolder: CampaignFolder): CachedCheck {
  // `max` would allocate memory for all entries at once.
  const checked = new LRUCache<string, CheckedFile>({ maxSize: maxCachedChecks, sizeCalculation: () => 1 });
  return async (path, kind, rowFolder) => {
    const key = JSON.stringify([kind, path, rowFolder]);
    const known = checked.get(key);
    if (known) return known;
    const found = await checkFile(campaignFolder, path, kind, rowFolder).catch((error: unknown) => ({
      problem: unreadableReason(error, path),
    }));
    checked.set(key, found);
    return found;
  };
}

async function findFileProblem(
  { files, audio }: Envelope,
  rowFolders: FileRules['rowFolders'],
  checkOnce: CachedCheck,
): Promise<{ column: string; detail: string } | undefined> {
  const parts = [
    ...files.map(({ path }, index) => ({ column: `files.${index}.file`, path, kind: 'file' as const })),
    ...Object.entries(audio).map(([column, path]) => ({ column, path, kind: 'audio' as const })),
  ];
  let bytes = 0;
  for (const { column, path, kind } of parts) {
    const found = await checkOnce(path, kind, rowFolders.get(column)?.folder);
    if ('problem' in found) return { column, detail: `the file "${path}" cannot be sent: ${found.problem}` };
    bytes += found.bytes;
    if (bytes > maxBytesOfRequest) return { column, detail: tooLargeText };
  }
  return undefined;
}

function hasFiles(contact: Contact): contact is Extract<Contact, { kind: 'contact' }> {
  if (contact.kind === 'rejected') return false;
  const { files, audio } = contact.envelope;
  return files.length > 0 || Object.keys(audio).length > 0;
}

function toGibibytes(bytes: number): number {
  return bytes / 1024 ** 3;
}

/** Absolute paths of the files that make up a campaign. They are never sent. */
export function listOwnFiles({ value }: Campaign, path: string, settings: Settings): string[] {
  const { workingFolder } = settings;
  const campaignFile = resolve(workingFolder, path);
  const folder = dirname(campaignFile);
  const { contacts, chargeCodes } = value;
  const named = [...contacts.file, ...contacts.suppressions, ...(chargeCodes ? [chargeCodes.file] : [])];
  const settingFolders = new Set([folder, workingFolder, projectFolder(workingFolder)]);
  return [
    campaignFile,
    resolve(workingFolder, accountsPath(settings)),
    ...named.filter((name) => name !== standardInput).map((name) => resolve(folder, name)),
    ...[...settingFolders].map((each) => join(each, '.env')),
    ...(settings.envFiles ?? []),
  ];
}

/**
 * Checks the files that are the same for all contacts, before any contact is read.
 *
 * @throws InputError for those that cannot be sent
 */
export async function checkStaticFiles(
  campaign: Campaign,
  account: SendingAccount,
  files: CampaignFiles,
): Promise<void> {
  const problems: Problem[] = [];
  let bytes = 0;
  for (const { path, kind, where } of staticFiles(campaign, account)) {
    const found = await files.check(path, kind);
    if ('problem' in found) {
      problems.push({ where, what: `The file "${path}" cannot be sent: ${found.problem}.` });
    } else {
      bytes += found.bytes;
      if (bytes > maxBytesOfRequest)
        problems.push({ where, what: `The file "${path}" cannot be sent: ${tooLargeText}.` });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
}
