import type { CostEstimate } from '../../campaign/cost.ts';
import type { FieldSource } from '../../campaign/mapping.ts';
import type { MergePlan } from '../../campaign/merge.ts';
import type { ContactFile } from '../../contacts/read.ts';
import type { RejectedContact } from '../../domain/contacts.ts';
import type { Channel, Destination, Envelope } from '../../domain/message.ts';
import type { Problem } from '../../domain/problems.ts';
import type { BidiControls } from './bidi-controls.ts';
import type { RunForecast } from './forecast.ts';
import type { Origins } from './origins.ts';
import type { PastSendTimes } from './past-send-times.ts';
import type { RemovedMarks } from './removed-marks.ts';
import type { SentFields } from './sent-fields.ts';

/** What a run of this campaign would be; nothing is sent or written. */
export type Preview = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly files: readonly PreviewedFile[];
  readonly contacts: {
    readonly read: number;
    readonly invalid: number;
    readonly duplicate: number;
    readonly suppressed: number;
  };
  /** Rows that `contacts.where` leaves out; they are not among those read. Null where the campaign is for all. */
  readonly filtered: number | null;
  readonly mapping: readonly FieldSource[];
  readonly sentFields: SentFields;
  readonly recipients: number;
  /** A warning for people of duplicates that are left out and would be sent something else; null where there are none. */
  readonly differing: string | null;
  /** Why a run would be refused as a repetition of an earlier one, unless `--again` is said; null where it would not. */
  readonly repeats: string | null;
  readonly requests: number;
  readonly envelopes: number;
  readonly merge: MergePlan;
  /** SMS parts of all messages, as far as they can be told before the service fills its own placeholders. */
  readonly smsParts: number | null;
  readonly cost: CostEstimate;
  readonly forecast: RunForecast;
  /** Whom the service would send to at once, because their SendTime is over. */
  readonly pastSendTimes: PastSendTimes;
  readonly removedMarks: RemovedMarks;
  /** Messages with characters that turn the direction of text. */
  readonly bidiControls: BidiControls;
  /** The commonest reasons of invalid rows, each with how many there are of it. */
  readonly invalidBecause: readonly string[];
  readonly rejected: readonly RejectedContact[];
  /** Lines of the campaign's own suppression files that hold no address; the first of them are shown. */
  readonly unreadableSuppressions: { readonly lines: number; readonly problems: readonly Problem[] };
  /** The runs that mended contacts come from, and how many of the contacts those reached or may; null where there are none. */
  readonly origins:
    | (Pick<Origins, 'runs' | 'others'> & {
        readonly reached: readonly { readonly rows: number; readonly detail: string }[];
      })
    | null;
  /** Whether the ledger's suppressions, and what it has sent, were looked at. */
  readonly ledger: 'read' | 'not read';
  readonly messages: readonly PreviewedMessage[];
};

export type PreviewedFile = { readonly name: string } & ReturnType<ContactFile['format']>;

export type PreviewedMessage = Envelope & {
  readonly file: string;
  readonly line: number;
  readonly destination: Destination;
  /** The SMS text as the recipient will read it; null in other channels. */
  readonly text: string | null;
};
