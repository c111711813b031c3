import type { RejectedContact } from './contacts.ts';
import type { DuplicateReason, ReachedReason, RejectionDetail } from './reasons.ts';

/** Contacts that planning leaves out, beside those that the import does. */

/** A contact left out of a run, as the ledger has it. */
export type RejectedContactRecord = Omit<RejectedContact, 'detail'> & { readonly detail: RejectionDetail };

/** Contacts left out because a run reached them, may have reached them or still will: how many, and which run. */
export type ReachedContacts = { readonly rows: number; readonly detail: ReachedReason };

/** Contacts that are the same as an earlier one. */
export type DuplicateContacts = {
  readonly rows: number;
  /** Of those, the ones whose address, message, files or billing differ from the contact that stays. */
  readonly differing: number;
  /** Some of them, the differing ones first. `line` is counted on from file to file. */
  readonly examples: readonly { readonly line: number; readonly detail: DuplicateReason }[];
};
