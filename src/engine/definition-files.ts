import { isUtf8 } from 'node:buffer';
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { unreadableReason } from '../platform/file-error.ts';
import { findProject, projectFolder } from '../platform/project.ts';
import { readUpTo } from '../platform/read-up-to.ts';
import type { Settings } from './settings.ts';

/** Relative to the working folder. A relative VOLLEY_ACCOUNTS is relative to the project. */
export function accountsPath({ environment, workingFolder }: Settings): string {
  return inProject(environment['VOLLEY_ACCOUNTS'] || 'campaigns/accounts.yaml', workingFolder);
}

/** A path of the project, relative to the working folder. */
export function inProject(path: string, workingFolder: string): string {
  const project = projectFolder(workingFolder);
  if (project === workingFolder || isAbsolute(path)) return path;
  return relative(workingFolder, join(project, path)) || '.';
}

/** The folder of a campaign: paths in it are relative to this folder. */
export function folderOfCampaign(campaign: string, { workingFolder }: Settings): string {
  return resolve(workingFolder, dirname(campaign));
}

/**
 * The path of a file that a campaign names, for errors.
 *
 * @param campaign its path as the user wrote it
 */
export function besideCampaign(campaign: string, written: string): string {
  return isAbsolute(written) ? written : join(dirname(campaign), written);
}

/**
 * A campaign of another project would be sent with the wrong ledger, which does not know its earlier runs.
 *
 * @param campaign its path as the user wrote it
 * @throws InputError if the campaign belongs to another project than the working folder
 */
export async function requireSameProject(campaign: string, { workingFolder }: Settings): Promise<void> {
  const ours = findProject(workingFolder);
  const theirs = findProject(dirname(resolve(workingFolder, campaign)));
  if (ours === undefined || theirs === undefined || ours === theirs) return;
  if ((await realpath(ours)) === (await realpath(theirs))) return;
  const what = `The campaign belongs to the project ${theirs}, and this command uses the ledger and the accounts of the project ${ours}, which does not know its earlier runs. Nothing was sent. Go to ${theirs} and start the command there.`;
  throw new InputError([{ where: campaign, what }]);
}

/** Names of contact files (src/contacts). */
const contactFileName = /\.(csv|tsv|txt|xlsx)(\.gz)?$/i;

/**
 * The path of a campaign, relative to the working folder, that a user names by its path, or by its name in the folder
 * `campaigns`, such as `first`.
 *
 * @throws InputError for a contact file, or a name without a campaign
 */
export async function findCampaign(written: string, { workingFolder }: Settings): Promise<string> {
  const isFile = async (path: string): Promise<boolean> =>
    (await stat(resolve(workingFolder, path)).catch(() => undefined))?.isFile() ?? false;
  if (contactFileName.test(written)) {
    const what = `This is the name of a contact file, and a campaign is expected (YAML). To send a campaign to these contacts, add --contacts ${written} to it.`;
    throw new InputError([{ where: written, what }]);
  }
  if (!/^[\w-]+(\.ya?ml)?$/.test(written) || (await isFile(written))) return written;
  const hasExtension = /\.ya?ml$/.test(written);
  const names = hasExtension ? [written] : [`${written}.yaml`, `${written}.yml`];
  const paths = names.map((name) => inProject(`campaigns/${name}`, workingFolder));
  for (const path of paths) if (await isFile(path)) return path;
  if (hasExtension) return written;
  const what = `There is no such campaign, neither here nor as ${paths.join(' or ')}.`;
  throw new InputError([{ where: written, what }]);
}

/** An accounts file may hold rate cards, and a plan the digests of thousands of attached files. */
export const maxBytes = {
  campaign: 512 * 1024,
  accounts: 8 * 1024 * 1024,
  cells: 512 * 1024,
  plan: 64 * 1024 * 1024,
  rehearsal: 512 * 1024,
} as const;

/** @throws InputError if the file is unreadable, too large or not UTF-8 */
export async function readText(
  path: string,
  settings: Settings,
  kind: keyof typeof maxBytes,
): Promise<string> {
  const max = maxBytes[kind];
  const absolutePath = resolve(settings.workingFolder, path);
  const bytes = await readUpTo(absolutePath, max).catch((error: unknown) => {
    const hint = kind === 'accounts' ? missingAccountsHint(settings) : '';
    throw new InputError(
      [{ where: path, what: `The ${kind} file cannot be read (${unreadableReason(error, path)}).${hint}` }],
      { cause: error },
    );
  });
  if (bytes.byteLength > max) {
    const { size } = await stat(absolutePath);
    // A device has no size.
    const actual = size > max ? formatKibibytes(size) : `more than ${formatKibibytes(max)}`;
    const what = `The ${kind} file has ${actual}; expected at most ${formatKibibytes(max)}.`;
    throw new InputError([{ where: path, what }]);
  }
  const line = findInvalidLine(bytes);
  if (line === undefined) return bytes.toString('utf8');
  const what = 'This line has bytes that are not UTF-8. Save the file as UTF-8.';
  throw new InputError([{ where: `${path}:${line}`, what }]);
}

const formatKibibytes = (size: number): string => `${Math.ceil(size / 1024).toLocaleString('en')} KiB`;

function missingAccountsHint({ environment, workingFolder }: Settings): string {
  if (environment['VOLLEY_ACCOUNTS'] || findProject(workingFolder) !== undefined)
    return ' Set VOLLEY_ACCOUNTS to its path.';
  return ` ${workingFolder} is in no Volley project: go to your project folder (\`volley init\` makes one), or set VOLLEY_ACCOUNTS to the path of the file.`;
}

/**
 * A decoder would put U+FFFD for an invalid byte, which silently changes a name.
 *
 * @returns the first invalid line, from 1; undefined if all is UTF-8
 */
function findInvalidLine(bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return undefined;
  const lines = bytes.toString('latin1').split(/\r\n|[\r\n]/);
  return lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1'))) + 1;
}
