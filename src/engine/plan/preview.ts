import type { CostEstimate } from '../../campaign/cost.ts';
import type { FieldSource } from '../../campaign/mapping.ts';
import type { MergePlan } from '../../campaign/merge.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import type { RejectedContact } from '../../domain/contacts.ts';
import type { Channel, Destination, Envelope } from '../../domain/message.ts';
import type { Problem } from '../../domain/problems.ts';
import type { ContactCounts } from '../../domain/runs.ts';
import type { PartCauses } from '../../domain/sms.ts';
import type { PlannedVariant } from '../../domain/variants.ts';
import type { PlannedCanary } from '../../ledger/planning/canary.ts';
import type { FieldNames } from '../../ledger/planning/read-decided.ts';
import type { NotesFound } from './contact-notes.ts';
import type { RunForecast } from './forecast.ts';
import type { PlannedGuard } from './guard-notes.ts';
import type { Origins } from './origins.ts';
import type { TestRecipients } from './test-recipients.ts';

/** Nothing is sent or written. */
export type Preview = NotesFound & {
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly files: readonly PreviewedFile[];
  readonly contacts: ContactCounts;
  /** Rows that `contacts.where` excludes; not part of `contacts.read`. Null without that filter. */
  readonly filtered: number | null;
  readonly mapping: readonly FieldSource[];
  /** A field that is empty for a recipient is not sent. */
  readonly sentFields: FieldNames;
  readonly recipients: number;
  /** Null: the campaign has none. */
  readonly variants: readonly PlannedVariant[] | null;
  /** A warning about rejected duplicates whose message differs; null when there are none. */
  readonly differing: string | null;
  /** Why the run would be refused as a repetition without `--again`; null when it would not. */
  readonly repeats: string | null;
  /** A warning about earlier runs of the campaign that can still send; null when there are none. */
  readonly unfinished: string | null;
  readonly requests: number;
  /** What goes first; null: nothing does, or it would be as large as the run. */
  readonly canary: PlannedCanary | null;
  /** Null: the campaign has none. */
  readonly guard: PlannedGuard | null;
  readonly envelopes: number;
  readonly merge: MergePlan;
  /** All SMS parts, before the service fills its own placeholders. */
  readonly smsParts: number | null;
  /** Parts that only some characters cause; null in other channels. */
  readonly partCauses: PartCauses | null;
  /** Of those who get the winner too. */
  readonly cost: CostEstimate;
  readonly forecast: RunForecast;
  /** Contacts that are beyond a cap. */
  readonly capped: readonly { readonly rows: number; readonly detail: string }[];
  /** The most frequent reasons of invalid rows, with their counts. */
  readonly invalidBecause: readonly string[];
  /** About columns and payers of the contact files, and the schedule. Sentences without a full stop. */
  readonly warnings: readonly string[];
  readonly rejected: readonly RejectedContact[];
  /** Lines of the campaign's suppression files without an address. Only the first are shown. */
  readonly unreadableSuppressions: { readonly lines: number; readonly problems: readonly Problem[] };
  /** Null without fixed contacts. */
  readonly origins:
    | (Pick<Origins, 'runs' | 'others'> & {
        readonly reached: readonly { readonly rows: number; readonly detail: string }[];
      })
    | null;
  /** Null: the recipients are those of the contact files. */
  readonly test: TestRecipients | null;
  /** Whether suppressions and earlier runs in the ledger were read. */
  readonly ledger: 'read' | 'not read';
  readonly messages: readonly PreviewedMessage[];
};

export type PreviewedFile = { readonly name: string } & ReturnType<ContactFile['format']>;

export type PreviewedMessage = Envelope & {
  readonly file: string;
  readonly line: number;
  /** The name of its variant; null: the campaign has none. */
  readonly variant: string | null;
  readonly destination: Destination;
  /** The SMS text as the recipient reads it; null in other channels. */
  readonly text: string | null;
};
