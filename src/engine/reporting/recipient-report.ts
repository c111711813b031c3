import { canBeMessageId } from '../../domain/message-id.ts';
import { InputError } from '../../domain/problems.ts';
import { countUnmatchedDeliveryReports } from '../../ledger/delivery-reports/list.ts';
import {
  findRecipientHistories,
  type RecipientHistory,
  type RecipientQuery,
} from '../../ledger/recipients/history.ts';
import { countPurgedRuns } from '../../ledger/runs/find.ts';
import type { EngineContext } from '../context.ts';
import { createSuppressedAddressReader, readAddresses } from '../suppressions/import-suppressions.ts';

export type RecipientReport = {
  readonly histories: readonly RecipientHistory[];
  readonly hasMore: boolean;
  /** They match no known message. */
  readonly unmatched: { readonly address: string; readonly reports: number } | undefined;
};

/**
 * Newest run first.
 *
 * @param text a MessageID, the service's job number, a phone number or an e-mail address
 * @param country for numbers without a country code; excludes job numbers
 * @throws InputError when it is none of these, or no run sent to it
 */
export async function reportRecipient(
  { ledger }: EngineContext,
  text: string,
  country: string | undefined,
  limit: number,
): Promise<RecipientReport> {
  const find = async (kind: RecipientQuery['kind'], value: string) => {
    const histories = await findRecipientHistories(ledger.pool, { kind, value }, limit + 1);
    return { histories: histories.slice(0, limit), hasMore: histories.length > limit, unmatched: undefined };
  };
  if (canBeMessageId(text)) {
    const byMessageId = await find('messageId', text);
    if (byMessageId.histories.length > 0) return byMessageId;
    const byJobNumber = country === undefined ? await find('jobNumber', text) : undefined;
    if (byJobNumber && byJobNumber.histories.length > 0) return byJobNumber;
    if (/[A-Za-z]/.test(text)) {
      throw new InputError([{ where: text, what: 'No run has this MessageID or job number.' }]);
    }
  }
  const readAddress = createSuppressedAddressReader([text.includes('@') ? 'email' : 'sms'], country);
  const [address = ''] = readAddresses([text], readAddress);
  const byAddress = await find('address', address);
  const reports = await countUnmatchedDeliveryReports(ledger.pool, address);
  const unmatched = reports > 0 ? { address, reports } : undefined;
  if (byAddress.histories.length > 0) return { ...byAddress, unmatched };
  const hint = unmatched
    ? `${reports} delivery reports for it match no known message: \`volley delivery-reports list --address ${address}\`.`
    : 'A number without its country code needs --country.';
  const { runs, last } = await countPurgedRuns(ledger.knex);
  const purged =
    last === null
      ? ''
      : ` Purged runs (${runs}, the last at ${last.toISOString()}) no longer have recipients.`;
  const what = `No run has this MessageID, job number or recipient (${address}). ${hint}${purged}`;
  throw new InputError([{ where: text, what }]);
}
