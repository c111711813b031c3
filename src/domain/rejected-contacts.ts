import type { RejectedContact } from './contacts.ts';
import type { DuplicateReason, ReachedReason, RejectionDetail } from './reasons.ts';

/** A rejected contact as the ledger stores it. */
export type RejectedContactRecord = Omit<RejectedContact, 'detail'> & { readonly detail: RejectionDetail };

/** Contacts rejected because the run in `detail` reached them, may have, or still will. */
export type ReachedContacts = { readonly rows: number; readonly detail: ReachedReason };

/** Contacts identical to an earlier one. */
export type DuplicateContacts = {
  readonly rows: number;
  /** How many differ from the contact that stays in address, message, files or billing. */
  readonly differing: number;
  /** The differing ones first. `line` counts on from file to file. */
  readonly examples: readonly { readonly line: number; readonly detail: DuplicateReason }[];
};
