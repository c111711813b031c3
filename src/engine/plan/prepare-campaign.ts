import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { checkBudget } from '../../campaign/budget.ts';
import { type Campaign, checkCampaign, readCampaign } from '../../campaign/campaign.ts';
import { type Composition, compose } from '../../campaign/composition.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { rowFolders, staticFiles } from '../../campaign/files.ts';
import type { SendingAccount } from '../../campaign/sending-account.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { type AddressReader, createAddressReader } from '../../contacts/address.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import { type RowWatch, readContacts } from '../../contacts/read-contacts.ts';
import { routeNumberProblems } from '../../contacts/route-numbers.ts';
import { createContactTally } from '../../contacts/tally.ts';
import type { Contact, ContactFindings } from '../../domain/contacts.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { didYouMeanCountry } from '../../platform/countries.ts';
import { isLoopbackHost } from '../../wire/loopback.ts';
import { readText, requireSameProject } from '../definition-files.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import { type CampaignFiles, openCampaignFiles } from './campaign-files.ts';
import { checkChargeCodes, openChargeCodes } from './charge-code-file.ts';
import { checkNotify } from './check-notify.ts';
import {
  closeContactFiles,
  openContactFiles,
  requireColumns,
  sumContactFileBytes,
  withContactFiles,
} from './contact-files.ts';
import { type FindRanBefore, matchContactFiles } from './contact-patterns.ts';
import { maxBytesOfRequest, tooLargeText } from './file-check.ts';
import { createKeptContactFiles, type KeptContactFiles, type KeptParts } from './kept-contact-files.ts';
import { listOwnFiles } from './own-files.ts';
import { openSuppressionLists, type SuppressionLists } from './suppression-lists.ts';
import { chooseRecipients, type TestRecipients, toTestContacts } from './test-recipients.ts';
import { createValueKeeper, type KeptRows } from './value-keeper.ts';

export type PreparedCampaign = {
  readonly campaign: Campaign;
  readonly account: Account;
  readonly composition: Composition;
  readonly files: CampaignFiles;
  readonly contactFiles: readonly ContactFile[];
  /** The run that rejected the contacts, if the operator names it. */
  readonly origin: string | undefined;
  /** Only the first recipients; undefined: all. */
  readonly limit: number | undefined;
  /** Undefined: the recipients are those of the contact files. */
  readonly test: TestRecipients | undefined;
  readonly workingFolder: string;
  /** Relative to the working folder. */
  readonly path: string;
  readonly absolutePath: string;
  readonly sha256: Buffer;
  /** Absolute paths. */
  readonly matched: readonly string[];
  readonly contactBytes: number | undefined;
  /** Of the contact files, as far as the contacts are read. */
  readonly kept: KeptContactFiles;
  /** Mapped and checked, in batches. Can be read once. */
  readonly contacts: AsyncIterable<readonly Contact[]>;
  /** Of the contacts read so far. */
  readonly found: () => ContactFindings;
  /** The campaign's own lists. */
  readonly suppressionLists: SuppressionLists;
  /** For callers that stop before the last contact. */
  readonly close: () => Promise<void>;
};

export type PreparationOptions = {
  /** Instead of the campaign's own; relative to the working folder. */
  readonly contactFiles?: readonly string[] | undefined;
  readonly origin?: string | undefined;
  readonly limit?: number | undefined;
  /** Addresses that a test goes to, as written. */
  readonly testTo?: readonly string[] | undefined;
  /** By default `nothing`. */
  readonly keeps?: KeptParts;
  /** By default `costly`. */
  readonly keepsRows?: KeptRows;
  /** Only for a new run; else patterns match files that have already run. */
  readonly ranBefore?: FindRanBefore | undefined;
};

/**
 * Reads a campaign with its account, contact file headers and attachments.
 *
 * @throws InputError with every problem of the first file that has any
 * @throws NothingNewError when every matching contact file has already run
 */
export async function prepareCampaign(
  path: string,
  settings: Settings,
  {
    contactFiles: replacingFiles,
    origin,
    limit,
    testTo,
    keeps = 'nothing',
    keepsRows = 'costly',
    ranBefore,
  }: PreparationOptions = {},
): Promise<PreparedCampaign> {
  await requireSameProject(path, settings);
  const source = await readText(path, settings, 'campaign');
  const written = readCampaign(source, path);
  const { campaign: whole, matched } = replacingFiles
    ? { campaign: withContactFiles(written, path, settings, replacingFiles), matched: [] }
    : await matchContactFiles(written, path, settings, ranBefore);
  const definition = whole.value;
  const account = await loadAccount(definition.account, settings, whole.locate(['account']));
  const target = toTarget(account);
  checkCampaign(whole, target);
  const accountNamed = (name: string, where: string) => loadAccount(name, settings, where);
  await checkNotify(
    whole,
    settings.environment,
    resolve(settings.workingFolder, dirname(path)),
    accountNamed,
  );

  const readAddress = addressReaderOf(whole);
  const { campaign, ...chosen } = chooseRecipients(whole, { testTo, limit }, readAddress);
  const routes = routeNumberProblems(campaign, readAddress);
  if (routes.length > 0) throw new InputError(routes);

  // Report an unknown cost before any contact is read.
  const { rates } = createTariffs(definition.channel, account);
  checkBudget(campaign, estimateCost([], definition.channel, rates(), new Date(0)));
  const kept = createKeptContactFiles(keeps);
  const contactFiles = await openContactFiles(campaign, { path, settings, kept, replacingFiles });
  try {
    const composition = compose(
      withShownFiles(campaign, contactFiles),
      target,
      contactFiles[0]?.header ?? [],
    );
    requireColumns(contactFiles, composition);
    const sha256 = createHash('sha256').update(source).digest();
    const keepsValues = createValueKeeper(composition, keepsRows);
    const read = { composition, contactFiles, kept, matched, sha256 };
    const opened = { campaign, account, ...read, origin, ...chosen, path };
    return await prepareContacts(opened, target, { readAddress, keepsValues }, settings);
  } catch (error) {
    await closeContactFiles(contactFiles);
    throw error;
  }
}

/** Relative to the campaign's folder, where nothing names another. */
const defaultAttachments = 'documents';

function addressReaderOf({ value: { channel, contacts }, locate }: Campaign): AddressReader {
  const { country = '', landlines } = contacts;
  const readAddress = createAddressReader(channel, contacts.country, landlines);
  if (readAddress) return readAddress;
  const what = `"${country}" is not a country with phone numbers.${didYouMeanCountry(country)}`;
  throw new InputError([{ where: locate(['contacts', 'country']), what }]);
}

/** Errors show the names that the user wrote. */
function withShownFiles(campaign: Campaign, files: readonly ContactFile[]): Campaign {
  const file = files.map(({ name }) => name);
  return { ...campaign, value: { ...campaign.value, contacts: { ...campaign.value.contacts, file } } };
}

async function prepareContacts(
  opened: Omit<
    PreparedCampaign,
    | 'workingFolder'
    | 'absolutePath'
    | 'contactBytes'
    | 'files'
    | 'contacts'
    | 'found'
    | 'suppressionLists'
    | 'close'
  >,
  target: SendingAccount,
  { readAddress, keepsValues }: { readonly readAddress: AddressReader } & Pick<RowWatch, 'keepsValues'>,
  settings: Settings,
): Promise<PreparedCampaign> {
  const { campaign, composition, contactFiles, test, path } = opened;
  const files = await openCampaignFiles(resolve(settings.workingFolder, dirname(path)), {
    ownFiles: listOwnFiles(campaign, path, settings),
    rowFolders: rowFolders(campaign, target),
    attachments: campaign.value.attachments ?? opened.account.attachments ?? [defaultAttachments],
  });
  await checkStaticFiles(campaign, target, files);
  const chargeCodes = await openChargeCodes(campaign, target.interface, path, settings);
  const suppressionLists = await openSuppressionLists(campaign, opened.account, path, settings);
  const contactBytes = await sumContactFileBytes(campaign, path, settings);
  const fileName = (file: number): string => contactFiles[file]?.name ?? '';
  const placeOf = (file: number, line: number, column: string): string => {
    const { header = [], place, format } = contactFiles[file] ?? {};
    const index = format?.().kind === 'workbook' ? header.indexOf(column) : -1;
    return place?.(line, index < 0 ? undefined : index) ?? '';
  };
  const tally = createContactTally(campaign.value.channel, composition.recipientColumn, placeOf);
  // A test continues no run.
  const watch = { ...tally.watch, keepsValues, ...(test && { onOrigin: () => undefined }) };
  const rows = files.checkContacts(readContacts(contactFiles, composition, readAddress, watch));
  const contacts = test ? toTestContacts(rows, test) : rows;
  return {
    ...opened,
    workingFolder: resolve(settings.workingFolder),
    absolutePath: resolve(settings.workingFolder, path),
    contactBytes,
    files,
    contacts: tally.count(
      chargeCodes
        ? checkChargeCodes(contacts, chargeCodes, fileName, campaign.locate(['chargeCodes']))
        : contacts,
    ),
    found: tally.findings,
    suppressionLists,
    close: async () => {
      await Promise.all([suppressionLists.close(), closeContactFiles(contactFiles)]);
    },
  };
}

/** What an account can send. */
export function toTarget({ interface: interfaceName, format, baseUrl, allow }: Account): SendingAccount {
  return {
    interface: interfaceName,
    format,
    loopback: isLoopbackHost(new URL(baseUrl).hostname),
    ...(allow && { allow }),
  };
}

/** Before any contact, because they are the same for all. */
async function checkStaticFiles(
  campaign: Campaign,
  target: SendingAccount,
  files: CampaignFiles,
): Promise<void> {
  const problems: Problem[] = [];
  let bytes = 0;
  for (const { path, kind, where } of staticFiles(campaign, target)) {
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
