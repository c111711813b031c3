import type { Envelope, MessageFields } from './message.ts';

export const rejectionReasons = ['invalid', 'duplicate', 'suppressed'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Contacts left out that can be mended: a duplicate is of a recipient who is in the run. */
export const fixableReasons: readonly RejectionReason[] = ['invalid', 'suppressed'];

/** What becomes of contacts that are the same: the first stays, all stay, or there is no run. */
export const duplicatePolicies = ['merge', 'allow', 'refuse'] as const;
export type DuplicatePolicy = (typeof duplicatePolicies)[number];

/** What makes two contacts the same (columns of the contact file; none: the address), and what becomes of those. */
export type ContactIdentity = { readonly key: readonly string[]; readonly duplicates: DuplicatePolicy };

/** Whether contacts have keys of their own, so that an address may be in a run several times. */
export function isKeyed({ key, duplicates }: ContactIdentity): boolean {
  return key.length > 0 || duplicates === 'allow';
}

/** Why a row was left out: the column that is to blame, and in words. */
export type Rejection = {
  readonly column: string;
  readonly reason: RejectionReason;
  readonly detail: string;
};

/** A row left out of a run: where it stands in the contact files, and why. */
export type RejectedContact = { readonly file: string; readonly line: number } & Rejection;

/** What was read of the contact files, in numbers and without any address. */
export type ContactFindings = {
  /** Rows that the campaign is for. */
  readonly read: number;
  /** Rows that `contacts.where` left out; they are not among those read. */
  readonly filtered: number;
  readonly invalid: number;
  /** Of the invalid rows, those whose address is empty. */
  readonly empty: number;
  /** Why rows are invalid, the commonest cause first; each half a sentence with its number of rows. */
  readonly causes: readonly string[];
  /** The runs that rows name as those which they were contacts of before. */
  readonly origins: ReadonlySet<string>;
  /** The first invalid rows; their words may quote the row. */
  readonly examples: readonly RejectedContact[];
};

/**
 * A row of a contact file on its way into a run: mapped and normalised, or left out. Suppressed addresses and duplicates
 * are found later. `file` counts the campaign's contact files, from 0.
 */
export type Contact = { readonly file: number; readonly line: number } & (
  | {
      readonly kind: 'contact';
      readonly address: string;
      /** The address as the file has it. */
      readonly originalAddress: string;
      readonly envelope: Envelope;
      /** Destination fields other than `Recipient`. */
      readonly destination: MessageFields;
      /** What tells it from others, where that is not its address. */
      readonly key?: string;
      /** Time zones, with commas between; only in a campaign with a window. */
      readonly zones?: string;
    }
  | ({ readonly kind: 'rejected' } & Rejection)
);
