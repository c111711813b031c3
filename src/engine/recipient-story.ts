import { InputError } from '../domain.ts';
import { type RecipientStory, tellRecipients } from '../ledger/recipients/story.ts';
import { countPurgedRuns } from '../ledger/runs/find.ts';
import type { EngineContext } from './context.ts';
import { readAddresses, suppressedAddressReader } from './suppress.ts';

/** Recipients that are told of at once. */
const most = 100;

/**
 * Everything that is known of a recipient, newest run first; of all recipients of a request, where it is named.
 *
 * @param text a MessageID, a phone number or an e-mail address
 * @param country of a number that is written without a country code
 * @throws InputError when it is none of these, or nobody was ever sent to there
 */
export async function tellRecipient(
  { ledger }: EngineContext,
  text: string,
  country: string | undefined,
): Promise<readonly RecipientStory[]> {
  if (/^[0-9A-Za-z]{1,40}$/.test(text)) {
    const stories = await tellRecipients(ledger.pool, { kind: 'messageId', value: text }, most);
    if (stories.length > 0) return stories;
  }
  const readAddress = suppressedAddressReader([text.includes('@') ? 'email' : 'sms'], country);
  const [address = ''] = readAddresses([text], readAddress);
  const stories = await tellRecipients(ledger.pool, { kind: 'address', value: address }, most);
  if (stories.length > 0) return stories;
  const { runs, last } = await countPurgedRuns(ledger.knex);
  const purged =
    last === null
      ? ''
      : ` Runs that were purged (${runs}, the last at ${last.toISOString()}) know no recipients any more.`;
  const what = `No run has this MessageID or this recipient (${address}). A number without its country code needs --country.${purged}`;
  throw new InputError([{ where: text, what }]);
}
