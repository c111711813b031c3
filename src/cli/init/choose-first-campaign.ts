import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import {
  type ContactSample,
  countNationalNumbers,
  type FirstCampaign,
  type FirstChannel,
  firstChannels,
  guessFirstChannel,
  guessFirstRecipient,
} from '../../campaign/first-campaign.ts';
import { InputError } from '../../domain/problems.ts';
import { readContactSample } from '../../engine/project/contact-sample.ts';
import { exampleContacts } from '../../engine/project/project-files.ts';
import { openAccounts } from '../../gateway/accounts-file.ts';
import { listNames, oneOf } from '../../platform/suggestions.ts';
import { loadCountryReader, parseCampaignName } from '../option-readers.ts';
import type { Shell } from '../shell.ts';
import type { Ask } from './questions.ts';

export type FirstOptions = {
  readonly name?: string;
  readonly channel?: FirstChannel;
  readonly contacts?: string;
  readonly recipient?: string;
  readonly country?: string;
};

/** What a choice is made from, in this order: an option, an answer, the contact file. */
type Sources = {
  readonly options: FirstOptions;
  /** Undefined without a terminal. */
  readonly ask: Ask | undefined;
  /** As the user wrote it; undefined for the example. */
  readonly file: string | undefined;
  readonly sample: ContactSample;
};

/** @throws InputError for a contact file that cannot be read, or a choice that nothing gives */
export async function chooseFirstCampaign(
  { settings: { workingFolder, environment } }: Shell,
  folder: string,
  options: FirstOptions,
  ask: Ask | undefined,
) {
  const name =
    options.name ?? (await ask?.('Name of the first campaign', 'first', parseCampaignName)) ?? 'first';
  const { sample, file } = await chooseContacts(workingFolder, options, ask);
  const sources = { options, ask, file, sample };
  const channel = options.channel ?? (await chooseChannel(sources));
  const recipient = await chooseRecipient(channel, sources);
  const needsCountry = channel === 'sms';
  const campaign: FirstCampaign = {
    name,
    account: findAccount(folder, environment['VOLLEY_ACCOUNTS']),
    channel,
    file: file === undefined ? 'contacts/example.csv' : fileOf(folder, resolve(workingFolder, file)),
    recipient,
    country: needsCountry ? await chooseCountry(recipient, sources, environment) : undefined,
    header: sample.header,
  };
  return { campaign, isExample: file === undefined };
}

const contactsFlag = '--contacts';

async function chooseContacts(
  workingFolder: string,
  { contacts }: FirstOptions,
  ask: Ask | undefined,
): Promise<{ readonly sample: ContactSample; readonly file: string | undefined }> {
  const read = async (file: string, where: string) => ({
    sample: await readContactSample(file, workingFolder, where),
    file,
  });
  if (contacts !== undefined) return read(contacts, contactsFlag);
  const asked = await ask?.('Contact file (CSV or workbook), or Enter for an example', '', async (file) =>
    file === '' ? undefined : read(file, file),
  );
  if (asked !== undefined) return asked;
  const [header = [], ...rows] = exampleContacts.text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return { sample: { header, rows }, file: undefined };
}

async function chooseChannel({
  options: { recipient },
  ask,
  file,
  sample: { header },
}: Sources): Promise<FirstChannel> {
  const guess = guessFirstChannel(recipient === undefined ? header : [recipient]);
  const parse = (typed: string): FirstChannel => {
    const channel = firstChannels.find((each) => each === typed);
    if (channel !== undefined) return channel;
    throw new InvalidArgumentError(`expected ${oneOf(firstChannels)}.`);
  };
  if (ask) return ask(`Channel: ${oneOf(firstChannels)}`, guess ?? 'sms', parse);
  if (guess !== undefined) return guess;
  if (recipient !== undefined) {
    const what = `"${recipient}" is named neither like a phone number nor like an e-mail address. Add --channel.`;
    throw new InputError([{ where: '--recipient', what }]);
  }
  const what = `No column of ${file} is named like a phone number or an e-mail address. Its columns: ${listNames(header)}. Add --channel and --recipient <column>.`;
  throw new InputError([{ where: contactsFlag, what }]);
}

async function chooseRecipient(
  channel: FirstChannel,
  { options: { recipient }, ask, file, sample: { header } }: Sources,
): Promise<string> {
  const of = channel === 'sms' ? 'phone number' : 'e-mail address';
  const columns = `Its columns: ${listNames(header)}.`;
  const parse = (typed: string): string => {
    if (header.includes(typed)) return typed;
    throw new InvalidArgumentError(`expected a column of ${file ?? 'the example'}. ${columns}`);
  };
  if (recipient !== undefined) {
    if (header.includes(recipient)) return recipient;
    throw new InputError([{ where: '--recipient', what: `There is no column "${recipient}". ${columns}` }]);
  }
  const guess = guessFirstRecipient(channel, header);
  if (guess !== undefined) return guess;
  if (ask) return ask(`Column with the ${of}. ${columns} Column`, '', parse);
  const what = `No column of ${file} is named like ${of === 'phone number' ? 'a' : 'an'} ${of}. ${columns} Add --recipient <column>.`;
  throw new InputError([{ where: contactsFlag, what }]);
}

async function chooseCountry(
  column: string,
  { options: { country }, ask, sample }: Sources,
  { LC_ALL, LANG }: Shell['settings']['environment'],
): Promise<string | undefined> {
  const count = countNationalNumbers(sample, column);
  if (country !== undefined || count === 0) return country;
  if (ask) {
    // The country of the user's language, such as AU of en_AU.UTF-8.
    const guess = /^[a-z]{2,3}_([A-Z]{2})\b/.exec(LC_ALL || LANG || '')?.[1] ?? '';
    const question = 'Country of numbers without a country code, such as AU';
    return ask(question, guess, await loadCountryReader());
  }
  const what = `${count} of the first ${sample.rows.length} numbers in the column "${column}" have no country code. Name their country, such as --country AU.`;
  throw new InputError([{ where: '--country', what }]);
}

/** A file elsewhere stays where it is. */
function fileOf(folder: string, path: string): string {
  const fromProject = relative(folder, path);
  return /^\.\.(?:\/|$)/.test(fromProject) ? path : relative(join(folder, 'campaigns'), path);
}

/** The sandbox, unless the accounts file that is there has other accounts only. */
function findAccount(folder: string, named: string | undefined): string {
  const path = resolve(folder, named || 'campaigns/accounts.yaml');
  try {
    const { names } = openAccounts(readFileSync(path, 'utf8'), path);
    return names.includes(sandboxAccount) ? sandboxAccount : (names[0] ?? sandboxAccount);
  } catch {
    // A missing file is written; a faulty one is reported by the first command that needs it.
    return sandboxAccount;
  }
}

export const sandboxAccount = 'sandbox';
