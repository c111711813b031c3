import type { Envelope, MessageFields } from './message.ts';

export const rejectionReasons = ['invalid', 'duplicate', 'suppressed'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Reasons that an operator can remove. A duplicate needs nothing: its recipient is in the run. */
export const fixableReasons: readonly RejectionReason[] = ['invalid', 'suppressed'];

/** What happens to identical contacts: keep the first, keep all, or refuse the run. */
export const duplicatePolicies = ['merge', 'allow', 'refuse'] as const;
type DuplicatePolicy = (typeof duplicatePolicies)[number];

/** The columns that identify a contact (none: the address). */
export type ContactIdentity = { readonly key: readonly string[]; readonly duplicates: DuplicatePolicy };

/** Whether an address can be in a run several times. */
export function isKeyed({ key, duplicates }: ContactIdentity): boolean {
  return key.length > 0 || duplicates === 'allow';
}

/** `column` is the cause; `detail` explains it. */
type Rejection = {
  readonly column: string;
  readonly reason: RejectionReason;
  readonly detail: string;
};

/** `file` and `line` say where the contact stands. */
export type RejectedContact = { readonly file: string; readonly line: number } & Rejection;

/** Counts of what the import read, without addresses. */
export type ContactFindings = {
  /** Rows that the campaign is for. */
  readonly read: number;
  /** Rows that `contacts.where` excluded; not part of `read`. */
  readonly filtered: number;
  readonly invalid: number;
  /** Invalid rows whose address is empty. */
  readonly empty: number;
  /** Half sentences with numbers of rows, the most frequent first. */
  readonly causes: readonly string[];
  /** Runs that rows name as their earlier run. */
  readonly origins: ReadonlySet<string>;
  /**
   * Columns of workbooks in which few cells are of another kind than most, and columns that leave a gap in the text of
   * some rows. Sentences without a full stop.
   */
  readonly warnings: readonly string[];
  /** The first invalid rows, and where they stand. Their details may quote the row. */
  readonly examples: readonly { readonly where: string; readonly detail: string }[];
};

/** The number of contacts that get no variant before the winner is known. Variants count from 1. */
export const restNumber = 0;

/** What one contact gets. */
export type ContactMessage = {
  readonly envelope: Envelope;
  /** All except `Recipient`. */
  readonly destination: MessageFields;
  /** The same of the other variants, of a contact that gets the one that wins. */
  readonly alternatives?: readonly Omit<ContactMessage, 'alternatives'>[];
};

/**
 * A row on its way into a run, or rejected. Suppressed and duplicate contacts are found later. `file` is an
 * index.
 */
export type Contact = { readonly file: number; readonly line: number } & (
  | ({
      readonly kind: 'contact';
      readonly address: string;
      /** As written in the file. */
      readonly originalAddress: string;
      /** The number of its variant, or `restNumber`. Present if the campaign has variants. */
      readonly variant?: number;
      /** The whole row, in the order of its file's header; only if it is needed later. */
      readonly values?: readonly string[] | undefined;
      /** Present if contacts are identified by more than their address. */
      readonly key?: string;
      /** Comma-separated; only for a campaign with a window. */
      readonly zones?: string;
    } & ContactMessage)
  | ({ readonly kind: 'rejected' } & Rejection)
);
