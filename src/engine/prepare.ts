import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Campaign, checkCampaign, readCampaign } from '../campaign/campaign.ts';
import { type Composition, compose } from '../campaign/composition.ts';
import { staticFiles } from '../campaign/files.ts';
import type { CampaignTarget } from '../campaign/target.ts';
import { addressReader } from '../contacts/address.ts';
import { readContacts } from '../contacts/contacts.ts';
import type { ContactFile } from '../contacts/read.ts';
import { type Contact, InputError, type Problem } from '../domain.ts';
import type { Account } from '../gateway/account.ts';
import { readAccount } from '../gateway/accounts.ts';
import { whyUnreadable } from '../platform/file-error.ts';
import { faultyLine } from '../platform/utf8.ts';
import { isLoopbackHost } from '../wire/required.ts';
import { type CampaignFiles, openCampaignFiles, requestLimit, tooLarge } from './campaign-files.ts';
import { closeContactFiles, openContactFiles, requireColumns, withContactFiles } from './contact-files.ts';
import type { Settings } from './settings.ts';

export type { Settings } from './settings.ts';

/** A campaign whose files have all been read and checked: everything that can be known before anything is written. */
export type PreparedCampaign = {
  readonly campaign: Campaign;
  readonly account: Account;
  readonly composition: Composition;
  readonly files: CampaignFiles;
  readonly contactFiles: readonly ContactFile[];
  /** The rows of the contact files, mapped and checked, in batches. Can be read once; the files are closed by it. */
  readonly contacts: AsyncIterable<readonly Contact[]>;
  /** Rows that `contacts.where` has left out so far: they are no part of the run. */
  readonly filtered: () => number;
  /** For whoever does not read the contacts. */
  readonly close: () => Promise<void>;
};

/**
 * Reads a campaign with its account, the headers of its contact files and its attachments.
 *
 * @param path of the campaign, relative to the working folder
 * @param otherContacts contact files in place of the campaign's own, relative to the working folder
 * @throws InputError with every problem of the first file that has any
 */
export async function prepareCampaign(
  path: string,
  settings: Settings,
  otherContacts?: readonly string[],
): Promise<PreparedCampaign> {
  const written = readCampaign(await readText(path, settings, 'campaign'), path);
  const campaign = otherContacts ? withContactFiles(written, path, settings, otherContacts) : written;
  const definition = campaign.value;
  const account = await loadAccount(definition.account, settings, campaign.locate(['account']));
  const target = targetOf(account);
  checkCampaign(campaign, target);

  const readAddress = addressReader(
    definition.channel,
    definition.contacts.country,
    definition.contacts.landlines,
  );
  if (!readAddress) {
    const where = campaign.locate(['contacts', 'country']);
    throw new InputError([
      { where, what: `"${definition.contacts.country}" is not a country with phone numbers.` },
    ]);
  }

  const contactFiles = await openContactFiles(campaign, path, settings);
  const close = (): Promise<void> => closeContactFiles(contactFiles);
  try {
    const composition = compose(campaign, target, contactFiles[0]?.header ?? []);
    requireColumns(contactFiles, composition);
    const files = await openCampaignFiles(resolve(settings.workingFolder, dirname(path)));
    await checkStaticFiles(campaign, target, files);
    let filtered = 0;
    const rows = readContacts(contactFiles, composition, readAddress, () => {
      filtered++;
    });
    return {
      campaign,
      account,
      composition,
      files,
      contactFiles,
      contacts: files.checkContacts(rows),
      filtered: () => filtered,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function targetOf({ interface: interfaceName, format, baseUrl }: Account): CampaignTarget {
  return { interface: interfaceName, format, loopback: isLoopbackHost(new URL(baseUrl).hostname) };
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
      [{ where: path, what: `The ${kind} file cannot be read (${whyUnreadable(error)}).${hint}` }],
      { cause: error },
    );
  });
  const line = faultyLine(bytes);
  if (line === undefined) return bytes.toString('utf8');
  const what = 'Expected UTF-8, and this line holds bytes that are not. Save the file as UTF-8.';
  throw new InputError([{ where: `${path}:${line}`, what }]);
}

/** Files without placeholders are the same for everybody, so they are looked at before any contact is. */
async function checkStaticFiles(
  campaign: Campaign,
  target: CampaignTarget,
  files: CampaignFiles,
): Promise<void> {
  const problems: Problem[] = [];
  let bytes = 0;
  for (const { path, kind, where } of staticFiles(campaign, target)) {
    const found = await files.check(path, kind);
    if ('problem' in found) {
      problems.push({ where, what: `The file "${path}" cannot be sent along: ${found.problem}.` });
    } else {
      bytes += found.bytes;
      if (bytes > requestLimit)
        problems.push({ where, what: `The file "${path}" cannot be sent along: ${tooLarge}.` });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
}
