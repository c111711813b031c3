import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Campaign, checkCampaign, readCampaign } from '../campaign/campaign.ts';
import { type Composition, compose } from '../campaign/composition.ts';
import { addressReader } from '../contacts/address.ts';
import { readContacts } from '../contacts/contacts.ts';
import { type ContactFile, openContactFile } from '../contacts/read.ts';
import { type Contact, InputError } from '../domain.ts';
import type { Account } from '../gateway/account.ts';
import { readAccount } from '../gateway/accounts.ts';
import { faultyLine } from '../platform/utf8.ts';
import { wireInterface } from '../wire/interfaces.ts';

/** A campaign whose files have all been read and checked: everything that can be known before anything is written. */
export type PreparedCampaign = {
  readonly campaign: Campaign;
  readonly account: Account;
  readonly composition: Composition;
  readonly files: readonly { readonly name: string; readonly data: Buffer }[];
  /** The contact file's rows, mapped and checked. Can be read once. */
  readonly contacts: AsyncIterable<Contact>;
};

export type Settings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
};

/** Files of one run, together; they are held in memory and sent with every request. */
const filesLimit = 20 * 1024 * 1024;

/**
 * Reads a campaign with its account, contact file header and attachments.
 *
 * @param path of the campaign, relative to the working folder
 * @throws InputError with every problem of the first file that has any
 */
export async function prepareCampaign(path: string, settings: Settings): Promise<PreparedCampaign> {
  const campaign = readCampaign(await readText(path, settings, 'campaign'), path);
  const definition = campaign.value;
  const account = await loadAccount(definition.account, settings, campaign.locate(['account']));
  wireInterface(account.interface, account.format);
  checkCampaign(campaign, account.interface);

  const readAddress = addressReader(definition.channel, definition.contacts.country);
  if (!readAddress) {
    const where = campaign.locate(['contacts', 'country']);
    throw new InputError([
      { where, what: `"${definition.contacts.country}" is not a country with phone numbers.` },
    ]);
  }

  const contactFile = await openContacts(campaign, path, settings);
  const composition = compose(campaign, account.interface, contactFile.header);
  const files = await readFiles(campaign, path, settings);
  return {
    campaign,
    account,
    composition,
    files,
    contacts: readContacts(contactFile, composition, readAddress),
  };
}

/** @throws InputError when the accounts file or the account is faulty */
export async function loadAccount(name: string, settings: Settings, askedAt?: string): Promise<Account> {
  const path = accountsPath(settings);
  return readAccount(await readText(path, settings, 'accounts'), path, name, settings.environment, askedAt);
}

/** Where the accounts file is, relative to the working folder. */
export function accountsPath({ environment }: Settings): string {
  return environment['VOLLEY_ACCOUNTS'] || 'campaigns/accounts.yaml';
}

/** @throws InputError when the file cannot be read, or is not UTF-8 */
export async function readText(
  path: string,
  settings: Settings,
  kind: 'campaign' | 'accounts',
): Promise<string> {
  const bytes = await readFile(resolve(settings.workingFolder, path)).catch((error: unknown) => {
    const hint = kind === 'accounts' ? ' VOLLEY_ACCOUNTS names it.' : '';
    throw new InputError(
      [{ where: path, what: `The ${kind} file cannot be read (${reason(error)}).${hint}` }],
      { cause: error },
    );
  });
  const line = faultyLine(bytes);
  if (line === undefined) return bytes.toString('utf8');
  const what = 'Expected UTF-8, and this line holds bytes that are not. Save the file as UTF-8.';
  throw new InputError([{ where: `${path}:${line}`, what }]);
}

async function openContacts(campaign: Campaign, path: string, settings: Settings): Promise<ContactFile> {
  const { file } = campaign.value.contacts;
  const fullPath = resolve(settings.workingFolder, dirname(path), file);
  const shown = relative(settings.workingFolder, fullPath);
  try {
    await stat(fullPath);
  } catch (error) {
    const where = campaign.locate(['contacts', 'file']);
    throw new InputError([{ where, what: `The contact file ${shown} cannot be read (${reason(error)}).` }], {
      cause: error,
    });
  }
  return openContactFile(fullPath, shown);
}

/** Files stay inside the campaign's folder: a campaign from elsewhere must not send `/etc/passwd` along. */
async function readFiles(
  campaign: Campaign,
  path: string,
  settings: Settings,
): Promise<{ name: string; data: Buffer }[]> {
  const folder = await realpath(resolve(settings.workingFolder, dirname(path)));
  const files: { name: string; data: Buffer }[] = [];
  let left = filesLimit;
  for (const [index, { file, name }] of campaign.value.files.entries()) {
    const where = campaign.locate(['files', index, 'file']);
    const data = await readInside(folder, file, left).catch((error: unknown) => {
      const what = `The file "${file}" cannot be sent along: ${reason(error)}.`;
      throw new InputError([{ where, what }], { cause: error });
    });
    files.push({ name: name ?? basename(file), data });
    left -= data.length;
  }
  return files;
}

async function readInside(folder: string, file: string, most: number): Promise<Buffer> {
  // The real path, because a symbolic link may lead out too.
  const path = await realpath(resolve(folder, file));
  if (!path.startsWith(join(folder, sep))) throw new Error("it lies outside of the campaign's folder");
  const { size } = await stat(path);
  if (size > most) throw new Error(`the files are over ${filesLimit / 1024 / 1024} MiB together`);
  return readFile(path);
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  return error instanceof Error ? error.message : String(error);
}
