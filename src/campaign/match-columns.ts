import { type Channel, destinationFields } from '../domain/message.ts';
import type { Campaign } from './campaign.ts';
import { composeVariants } from './compose-variants.ts';
import { rowColumns } from './composition.ts';
import { guessColumns, plainName, usualNames } from './guess-columns.ts';
import type { SendingAccount } from './sending-account.ts';

/** The columns that every contact file of a campaign must have. */
export type NeededColumns = {
  readonly names: readonly string[];
  /** The one with the address. */
  readonly recipient: string;
  readonly channel: Channel;
};

/**
 * Composes the campaign against a file that has every column which it names.
 *
 * @throws InputError for faulty placeholders
 */
export function neededColumns(campaign: Campaign, account: SendingAccount): NeededColumns {
  const { contacts, channel } = campaign.value;
  const { columns = {}, countryColumn = [] } = contacts;
  const written = Object.values(columns).filter((source) => typeof source === 'string');
  const named = ['Recipient', written, rowColumns(campaign.value), countryColumn, placeholderNames(campaign)];
  const { composition } = composeVariants(campaign, account, [...new Set(named.flat())]);
  return { names: composition.requiredColumns, recipient: composition.recipientColumn, channel };
}

/** Also those that the service fills. */
function placeholderNames({ value: { contacts, message, variants = [], files } }: Campaign): string[] {
  const names: string[] = [];
  JSON.stringify([contacts.columns, message, variants, files], (_, value: unknown) => {
    if (typeof value === 'string')
      names.push(...[...value.matchAll(/\[\[([^[\]|]*)/g)].map(([, name = '']) => name.trim()));
    return value;
  });
  return names;
}

/**
 * Finds the columns of a file that needs other names: the column of the same name, else one whose name differs in
 * case, spaces, "_" and "-" only, else one with a usual name for the same. Where several are as likely, none is found.
 *
 * @returns the column of each needed name that has one
 */
export function matchColumns(
  { names, recipient, channel }: NeededColumns,
  header: readonly string[],
): Readonly<Record<string, string>> {
  const alikeTo = (name: string) => header.filter((column) => plainName(column) === plainName(name));
  const others = header.filter((column) => !names.some((name) => alikeTo(name).includes(column)));
  const usualFor = (name: string): readonly string[] => {
    // As without a match, a column with the address may have another use.
    if (name === recipient) return guessColumns('Recipient', channel, header);
    const field = destinationFields.find((each) =>
      usualNames(each, channel).flat().includes(plainName(name)),
    );
    return field === undefined ? [] : guessColumns(field, channel, others);
  };
  const found = names.flatMap((name): [string, string][] => {
    const alike = alikeTo(name);
    const [column, other] = alike.includes(name) ? [name] : alike.length > 0 ? alike : usualFor(name);
    return column === undefined || other !== undefined ? [] : [[name, column]];
  });
  return Object.fromEntries(found);
}
