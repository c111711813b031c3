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

/** Reasons for leaving out a valid row, without details that change while a run is sent. */
export const leftOutGroups = {
  suppressed_address: 'suppressed',
  suppressed_hash: 'suppressed',
  listed: 'listed',
  sent_recently: 'sent recently',
  sent: 'reached',
  to_be_sent: 'reached',
  may_have_been_sent: 'reached',
  sent_again: 'reached',
  same_contact: 'repeated',
} as const satisfies Readonly<Record<Exclude<RejectionDetail, string>['kind'], string>>;

/** How many rows are left out, and which: a digest of their lines and groups. */
export type LeftOutDigest = {
  readonly counts: Readonly<Partial<Record<LeftOutGroup, number>>>;
  readonly sha256: string;
};

export type LeftOutGroup = (typeof leftOutGroups)[keyof typeof leftOutGroups];
