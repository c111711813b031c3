import { canBeMessageId } from '../../domain/message-id.ts';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { countUnmatchedDeliveryReports } from '../../ledger/delivery-reports/list.ts';
import type { RecipientQuery } from '../../ledger/recipients/find.ts';
import { findRecipientHistories, type RecipientHistory } from '../../ledger/recipients/history.ts';
import { readReport } from '../../ledger/replica.ts';
import { countPurgedRuns } from '../../ledger/runs/find.ts';
import type { ReadConnection } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { createSuppressedAddressReader, readAddresses } from '../suppressions/import-suppressions.ts';

export type RecipientReport = {
  readonly histories: readonly RecipientHistory[];
  readonly hasMore: boolean;
  /** They match no known message. */
  readonly unmatched: { readonly address: string; readonly reports: number } | undefined;
};

type RecipientSearch = {
  /** The country of numbers without a country code; job numbers are not searched then. */
  readonly country?: string | undefined;
  /** Only runs of these accounts; null: all. */
  readonly accounts?: readonly string[] | null;
  readonly skip?: number;
  readonly limit: number;
  /** Explains a number that needs a country. */
  readonly countryHint?: string;
};

export type FoundRecipient = RecipientReport & {
  /** Normalised; undefined: the text was searched as a MessageID or job number. */
  readonly address: string | undefined;
};

/**
 * Newest run first.
 *
 * @param text a MessageID, the service's job number, a phone number or an e-mail address
 * @throws InputError when it is none of these
 */
export function searchRecipient(
  { ledger, now }: EngineContext,
  text: string,
  search: RecipientSearch,
): Promise<FoundRecipient & { readonly asOf: AsOf }> {
  return readReport(ledger, now, async (client, asOf) => ({
    ...(await findRecipient(client, text, search)),
    asOf,
  }));
}

async function findRecipient(
  client: ReadConnection,
  text: string,
  { country, accounts = null, skip = 0, limit, countryHint }: RecipientSearch,
): Promise<FoundRecipient> {
  const find = async (kind: RecipientQuery['kind'], value: string) => {
    const range = { skip, limit: limit + 1 };
    const histories = await findRecipientHistories(client, { kind, value, accounts }, range);
    const hasMore = histories.length > limit;
    return { histories: histories.slice(0, limit), hasMore, unmatched: undefined, address: undefined };
  };
  if (canBeMessageId(text)) {
    const byMessageId = await find('messageId', text);
    if (byMessageId.histories.length > 0) return byMessageId;
    const byJobNumber = country === undefined ? await find('jobNumber', text) : undefined;
    if (byJobNumber && byJobNumber.histories.length > 0) return byJobNumber;
    if (/[A-Za-z]/.test(text)) return byMessageId;
  }
  const address = readAddress(text, country, countryHint);
  const [byAddress, reports] = await Promise.all([
    find('address', address),
    countUnmatchedDeliveryReports(client, address, accounts),
  ]);
  return { ...byAddress, address, unmatched: reports > 0 ? { address, reports } : undefined };
}

/**
 * The normalised address that `searchRecipient` finds; undefined for a text that can be a MessageID or job number too.
 *
 * @throws InputError as `searchRecipient`
 */
export function addressOf(
  text: string,
  { country, countryHint }: Pick<RecipientSearch, 'country' | 'countryHint'>,
): string | undefined {
  return canBeMessageId(text) ? undefined : readAddress(text, country, countryHint);
}

/**
 * An address as it is compared, for one person's data.
 *
 * @throws InputError when it is none
 */
export function comparedAddressOf(text: string, country: string | undefined): string {
  return readAddress(text, country, undefined);
}

function readAddress(text: string, country: string | undefined, countryHint: string | undefined): string {
  const channel = text.includes('@') ? 'email' : 'sms';
  const [address = ''] = readAddresses(
    [text],
    createSuppressedAddressReader([channel], country, countryHint),
  );
  return address;
}

/**
 * Searches as `searchRecipient` does, for `volley report recipient`.
 *
 * @throws InputError also when no run sent to it
 */
export function reportRecipient(
  { ledger, now }: EngineContext,
  text: string,
  country: string | undefined,
  limit: number,
): Promise<RecipientReport & { readonly asOf: AsOf }> {
  return readReport(ledger, now, async (client, asOf) => {
    const { address, ...found } = await findRecipient(client, text, { country, limit });
    if (found.histories.length === 0) await refuseUnknown(ledger, text, { ...found, address });
    return { ...found, asOf };
  });
}

async function refuseUnknown(
  { knex }: Pick<EngineContext['ledger'], 'knex'>,
  text: string,
  { address, unmatched }: Pick<FoundRecipient, 'address' | 'unmatched'>,
): Promise<never> {
  if (address === undefined)
    throw new InputError([{ where: text, what: 'No run has this MessageID or job number.' }]);
  const hint = unmatched
    ? `${unmatched.reports} delivery reports for it match no known message: \`volley delivery-reports list --address ${address}\`.`
    : 'A number without its country code needs --country.';
  const { runs, last } = await countPurgedRuns(knex);
  const purged =
    last === null
      ? ''
      : ` Purged runs (${runs}, the last at ${last.toISOString()}) no longer have recipients.`;
  const what = `No run has this MessageID, job number or recipient (${address}). ${hint}${purged}`;
  throw new InputError([{ where: text, what }]);
}
