import type { BigIntStats } from 'node:fs';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { RowFolder } from '../../campaign/files.ts';
import { InputError, type Problem } from '../../domain/problems.ts';

/** `audio`: WAV, 16-bit, 8000 Hz (interface.md, 2.7 and 8). */
export type FileKind = 'file' | 'audio';

/** `problem` is half a sentence: "it does not exist". */
export type CheckedFile = { readonly bytes: number } | { readonly problem: string };

/** All files of one request, in bytes. */
export const maxBytesOfRequest = 20 * 1024 * 1024;
export const tooLargeText = `the files are over ${maxBytesOfRequest / 1024 / 1024} MiB together`;

export type CampaignFolder = {
  readonly root: string;
  readonly isOwnFile: Awaited<ReturnType<typeof createFileIdentityCheck>>;
  /** Folders of attachments, relative to the campaign's; undefined: all of it. */
  readonly attachments?: readonly string[] | undefined;
};

export async function checkFile(
  { root, isOwnFile, attachments }: CampaignFolder,
  path: string,
  kind: FileKind,
  rowFolder?: string,
): Promise<CheckedFile> {
  const inside = await pathInside(root, path);
  if (rowFolder !== undefined && !isInside(await pathInside(root, rowFolder), inside))
    return { problem: `it lies outside ${rowFolder}, the only folder that rows can use` };
  if (kind === 'file' && rowFolder === undefined && attachments !== undefined) {
    const folders = attachments.map((folder) => resolve(root, folder));
    const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
    if (!real.some((folder) => isInside(folder, inside)))
      return { problem: `it lies outside ${attachments.join(' and ')}; "attachments" names the folders` };
  }
  const found = await stat(inside, { bigint: true });
  if (found.isDirectory()) return { problem: 'it is a folder' };
  if (!found.isFile()) return { problem: 'it is not a regular file' };
  if (isOwnFile(found)) return { problem: 'it is a file of the campaign itself' };
  const secret = whyNeverSent(path) ?? whyNeverSent(relative(root, inside));
  if (secret !== undefined) return { problem: secret };
  const size = Number(found.size);
  if (size > maxBytesOfRequest) return { problem: tooLargeText };
  if (size === 0) return { problem: 'it is empty' };
  await access(inside, constants.R_OK);
  const problem = kind === 'audio' ? await findAudioProblem(await readFile(inside)) : undefined;
  return problem === undefined ? { bytes: size } : { problem };
}

/** The file may have changed since its contact was checked. */
export async function checkFileAgain(
  campaignFolder: CampaignFolder,
  path: string,
  rowFolders: readonly RowFolder[],
): Promise<CheckedFile> {
  let found: CheckedFile | undefined;
  for (const { folder } of rowFolders) {
    found = await checkFile(campaignFolder, path, 'file', folder);
    if ('bytes' in found) return found;
  }
  return found ?? checkFile(campaignFolder, path, 'file');
}

/** Settings and secrets are kept in such files. */
function whyNeverSent(path: string): string | undefined {
  const names = path.split(/[/\\]/);
  if (names.some((name) => /^\.(?!\.?$)/.test(name))) return 'hidden files are not sent';
  return /\.ya?ml[\s.]*$/i.test(path) ? 'YAML files are not sent' : undefined;
}

function isInside(folder: string, path: string): boolean {
  return path.startsWith(join(folder, sep));
}

/** @throws InputError for each of the campaign's own files that a row could name */
export async function requireFoldersWithoutOwnFiles(
  root: string,
  ownFiles: readonly string[],
  rowFolders: ReadonlyMap<string, RowFolder>,
): Promise<void> {
  const problems: Problem[] = [];
  for (const { folder, where } of rowFolders.values()) {
    const real = await pathInside(root, folder).catch(() => undefined);
    for (const file of real === undefined ? [] : ownFiles) {
      const found = await realpath(file).catch(() => undefined);
      if (real === undefined || found === undefined || !isInside(real, found)) continue;
      const what = `${folder} holds ${basename(file)}, a file of the campaign itself. Rows could name it; expected a folder with only files to send.`;
      problems.push({ where, what });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
}

/** Resolves links, because a link may point outside. */
export async function pathInside(root: string, path: string): Promise<string> {
  const real = await realpath(resolve(root, path));
  if (!isInside(root, real)) throw new Error("it lies outside the campaign's folder");
  return real;
}

const expectedAudio = 'expected a WAV file, PCM, 16-bit, 8000 Hz';

async function findAudioProblem(data: Buffer): Promise<string | undefined> {
  // Loads 80 modules, so only campaigns with audio pay for it.
  const { parseBuffer } = await import('music-metadata');
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

/** Recognises these files under any name, link or spelling. */
export async function createFileIdentityCheck(
  files: readonly string[],
): Promise<(status: BigIntStats) => boolean> {
  const known = new Set<string>();
  for (const file of files) {
    const status = await stat(file, { bigint: true }).catch(() => undefined);
    if (status) known.add(identity(status));
  }
  return (status) => known.has(identity(status));
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
