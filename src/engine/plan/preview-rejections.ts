import type { Contact } from '../../domain/contacts.ts';
import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import type { EngineContext } from '../context.ts';
import { createDuplicateFinder, type DuplicateFinder } from './duplicate-finder.ts';
import { createLineFinder } from './line-numbers.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { createReachedFinder, type ReachedFinder } from './reached-finder.ts';
import { readSuppressedReasons } from './suppressed-reasons.ts';

export type ValidContact = Extract<Contact, { kind: 'contact' }>;

export type Rejection = Pick<RejectedContactRecord, 'column' | 'reason' | 'detail'>;

export type RejectionFinder = {
  readonly reached: ReachedFinder;
  readonly duplicates: DuplicateFinder;
  /** @param compared the address, normalised for comparison */
  readonly find: (contact: ValidContact, compared: string) => Rejection | undefined;
};

/** Finds what expansion would reject: suppressed, reached by an origin, duplicate; in this order. */
export async function createRejectionFinder(
  { campaign, account, composition, contactFiles, origin, suppressionLists }: PreparedCampaign,
  context: Pick<EngineContext, 'now'> & Partial<Pick<EngineContext, 'ledger'>>,
  linesBefore: (file: number) => number,
): Promise<RejectionFinder> {
  const { identity, recipientColumn: column } = composition;
  const findSuppressed = await readSuppressedReasons(campaign.value, account, suppressionLists, context);
  const reached = createReachedFinder(context, campaign.value, origin, identity);
  const duplicates = createDuplicateFinder(identity, createLineFinder(contactFiles, linesBefore));
  return {
    reached,
    duplicates,
    find(contact, compared) {
      const { file, line, key, envelope } = contact;
      const suppressed = findSuppressed(compared, envelope.fields['SubAccount'] ?? '');
      if (suppressed !== undefined) return { column, reason: 'suppressed', detail: suppressed };
      const detail =
        reached.findReachedReason(compared, key) ??
        duplicates.findDuplicate(contact, compared, linesBefore(file) + line);
      return detail && { column, reason: 'duplicate', detail };
    },
  };
}
