import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { checkBudget } from '../../campaign/budget.ts';
import { type Campaign, checkCampaign, readCampaign } from '../../campaign/campaign.ts';
import { type ComposedVariants, composeVariants } from '../../campaign/compose-variants.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { rowFolders } from '../../campaign/files.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { assignByHash, assignForTest } from '../../campaign/variants.ts';
import { checkGuard, withCanaryLimits } from '../../campaign/watch-warnings.ts';
import { type AddressReader, addressReaderOf } from '../../contacts/address.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import { type RowWatch, readContacts } from '../../contacts/read-contacts.ts';
import { routeNumberProblems } from '../../contacts/route-numbers.ts';
import { createContactTally } from '../../contacts/tally.ts';
import type { Contact, ContactFindings } from '../../domain/contacts.ts';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { folderOfCampaign, readText, requireSameProject } from '../definition-files.ts';
import { loadAccount, sendingAccountOf } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import { type BroughtList, withBroughtList } from './brought-list.ts';
import { type CampaignFiles, checkStaticFiles, listOwnFiles, openCampaignFiles } from './campaign-files.ts';
import { checkChargeCodes, openChargeCodes } from './charge-code-file.ts';
import { checkNotify } from './check-notify.ts';
import {
  closeContactFiles,
  openContactFiles,
  requireColumns,
  sumContactFileBytes,
  withContactFiles,
  withShownFiles,
} from './contact-files.ts';
import { type FindRanBefore, matchContactFiles } from './contact-patterns.ts';
import {
  createKeptContactFiles,
  type KeptCampaign,
  type KeptContactFiles,
  withKeptFiles,
} from './kept-contact-files.ts';
import { createValueKeeper } from './row-values.ts';
import { openSuppressionLists, type SuppressionLists } from './suppression-lists.ts';
import { chooseRecipients, type TestRecipients, toTestContacts } from './test-recipients.ts';

export type PreparedCampaign = Pick<ComposedVariants, 'composition' | 'messagesOf'> & {
  readonly campaign: Campaign;
  readonly account: Account;
  readonly files: CampaignFiles;
  readonly contactFiles: readonly ContactFile[];
  /** The one contact file, if a person brought it. */
  readonly list: BroughtList | undefined;
  /** Undefined: the campaign and its contact files were read from the disk. */
  readonly former: KeptCampaign | undefined;
  /** The campaign as it is written. */
  readonly source: string;
  /** The run that rejected the contacts, if the operator names it. */
  readonly origin: string | undefined;
  /** Only the first recipients; undefined: all. */
  readonly limit: number | undefined;
  /** The variant that all get who are not in the control group; undefined: those of the campaign. */
  readonly winner: number | undefined;
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
  /** What is kept of the contact files, as far as the contacts are read. */
  readonly kept: KeptContactFiles;
  /** Mapped and checked, in batches. Can be read once. */
  readonly contacts: AsyncIterable<readonly Contact[]>;
  /** What was found in the contacts read so far. */
  readonly found: () => ContactFindings;
  /** The campaign's own lists. */
  readonly suppressionLists: SuppressionLists;
  /** Closes the files of a caller that stops before the last contact. */
  readonly close: () => Promise<void>;
};

export type PreparationOptions = {
  /** Instead of the campaign's own; relative to the working folder. */
  readonly contactFiles?: readonly string[] | undefined;
  /** Instead of both. */
  readonly list?: BroughtList | undefined;
  readonly origin?: string | undefined;
  readonly limit?: number | undefined;
  /** Addresses that a test goes to, as written. */
  readonly testTo?: readonly string[] | undefined;
  /** Number of the row that a test begins with; undefined: the first that is valid. */
  readonly testRow?: number | undefined;
  /**
   * For a run, its contact files; for a page of messages, all rows; undefined: the rows whose values may cost SMS parts.
   */
  readonly keeps?: 'files' | 'rows' | undefined;
  /** Only for a new run; else patterns match files that have already run. */
  readonly ranBefore?: FindRanBefore | undefined;
  /** Instead of the campaign and the contact files on the disk. */
  readonly former?: KeptCampaign | undefined;
  /** The number of the variant that all get who are not in the control group. */
  readonly winner?: number | undefined;
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
    list,
    origin,
    limit,
    testTo,
    testRow,
    keeps,
    ranBefore,
    former,
    winner,
  }: PreparationOptions = {},
): Promise<PreparedCampaign> {
  await requireSameProject(path, settings);
  const source = former?.source ?? (await readText(path, settings, 'campaign'));
  const written = readCampaign(source, path);
  const replaced = list
    ? withBroughtList(written, list)
    : former
      ? withKeptFiles(written, former)
      : replacingFiles && withContactFiles(written, path, settings, replacingFiles);
  const { campaign: found, matched } = replaced
    ? { campaign: replaced, matched: [] }
    : await matchContactFiles(written, path, settings, ranBefore);
  const account = await loadAccount(written.value.account, settings, written.locate(['account']));
  const whole = { ...found, value: withCanaryLimits(found.value, account) };
  const definition = whole.value;
  const sendingAccount = sendingAccountOf(account);
  checkCampaign(whole, sendingAccount);
  const accountNamed = (name: string, where: string) => loadAccount(name, settings, where);
  const folder = folderOfCampaign(path, settings);
  await checkNotify(whole, settings.environment, folder, accountNamed);

  const readAddress = addressReaderOf(whole);
  const { campaign, ...chosen } = chooseRecipients(whole, { testTo, testRow, limit }, readAddress);
  const routes = routeNumberProblems(campaign, readAddress);
  if (routes.length > 0) throw new InputError(routes);

  // Report an unknown cost before any contact is read.
  const { rates } = createTariffs(definition.channel, account);
  checkBudget(campaign, estimateCost([], definition.channel, rates(), new Date(0)));
  checkGuard(campaign, rates());
  const kept = createKeptContactFiles(keeps === 'files');
  const named = { replacingFiles, list, former };
  const contactFiles = await openContactFiles(campaign, { path, settings, kept, ...named });
  try {
    const shown = withShownFiles(campaign, contactFiles);
    const assign = chosen.test
      ? assignForTest(campaign, testRow !== undefined)
      : assignByHash(campaign.value, winner);
    const composed = composeVariants(shown, sendingAccount, contactFiles[0]?.header ?? [], assign);
    requireColumns(contactFiles, composed.composition);
    const opened = { campaign, account, composed, contactFiles, ...chosen, path };
    const keepsValues =
      keeps === 'files' ? undefined : createValueKeeper(composed.composition, keeps === 'rows');
    const read = await openContacts(opened, { readAddress, keepsValues, testRow }, settings);
    return {
      campaign,
      account,
      ...composed,
      contactFiles,
      ...chosen,
      winner,
      path,
      ...read,
      list,
      former,
      source,
      origin,
      kept,
      matched,
      workingFolder: resolve(settings.workingFolder),
      absolutePath: resolve(settings.workingFolder, path),
      sha256: createHash('sha256').update(source).digest(),
      contactBytes: former ? undefined : await sumContactFileBytes(campaign, path, settings),
      close: async () => {
        await Promise.all([read.suppressionLists.close(), closeContactFiles(contactFiles)]);
      },
    };
  } catch (error) {
    await closeContactFiles(contactFiles);
    throw error;
  }
}

/** Relative to the campaign's folder, where nothing names another. */
const defaultAttachments = 'documents';

async function openContacts(
  opened: Pick<PreparedCampaign, 'campaign' | 'account' | 'contactFiles' | 'test' | 'path'> & {
    readonly composed: ComposedVariants;
  },
  {
    readAddress,
    keepsValues,
    testRow,
  }: { readonly readAddress: AddressReader } & Pick<RowWatch, 'keepsValues'> &
    Pick<PreparationOptions, 'testRow'>,
  settings: Settings,
): Promise<Pick<PreparedCampaign, 'files' | 'contacts' | 'found' | 'suppressionLists'>> {
  const { campaign, account, composed, contactFiles, test, path } = opened;
  const { composition } = composed;
  const files = await openCampaignFiles(folderOfCampaign(path, settings), {
    ownFiles: listOwnFiles(campaign, path, settings),
    rowFolders: rowFolders(campaign, composition.account),
    attachments: campaign.value.attachments ?? account.attachments ?? [defaultAttachments],
  });
  await checkStaticFiles(campaign, composition.account, files);
  const chargeCodes = await openChargeCodes(campaign, account.interface, path, settings);
  const suppressionLists = await openSuppressionLists(campaign, account, path, settings);
  const fileName = (file: number): string => contactFiles[file]?.name ?? '';
  const placeOf = (file: number, line: number, column: string): string => {
    const { header = [], place, format } = contactFiles[file] ?? {};
    const index = format?.().kind === 'workbook' ? header.indexOf(column) : -1;
    return place?.(line, index < 0 ? undefined : index) ?? '';
  };
  const tally = createContactTally(campaign.value.channel, composition.recipientColumn, placeOf);
  // A test continues no run.
  const watch = { ...tally.watch, keepsValues, ...(test && { onOrigin: () => undefined }) };
  const rows = files.checkContacts(readContacts(contactFiles, composed, readAddress, watch));
  const contacts = test ? toTestContacts(rows, test, testRow) : rows;
  return {
    files,
    contacts: tally.count(
      chargeCodes
        ? checkChargeCodes(contacts, chargeCodes, fileName, campaign.locate(['chargeCodes']))
        : contacts,
    ),
    found: tally.findings,
    suppressionLists,
  };
}
