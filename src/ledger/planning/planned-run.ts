import type { ContactIdentity } from '../../domain/contacts.ts';
import type { Channel } from '../../domain/message.ts';
import type { RunRates } from '../../domain/rates.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { Priority } from '../../domain/runs.ts';
import type { ContactFileRecord } from '../runs/contact-files.ts';
import type { FileSource } from '../runs/run-files.ts';
import type { Transaction } from '../session.ts';
import type { FrequencyCap } from './remove-suppressed.ts';
import type { PlanWindow, WindowTotals } from './windows.ts';

/** A run as it is to be planned from the staged contacts. */
export type PlannedRun = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  /** The account whose suppressions hold for it; its own where it is not given. */
  readonly suppressionAccount?: string | undefined;
  readonly channel: Channel;
  readonly definition: unknown;
  /** Random, at least 128 bits; the checks of the run's MessageIDs are made with it. */
  readonly messageKey: Buffer;
  readonly chunkSize: number;
  readonly recipientColumn: string;
  readonly identity: ContactIdentity;
  /** Addresses sent to a short time ago are left out, where there is one. */
  readonly frequencyCap: FrequencyCap | undefined;
  readonly contactFiles: readonly ContactFileRecord[];
  /** The run whose recipients this one sends to again; null for a run of contact files. */
  readonly sourceRun: string | null;
  /** Runs that mended contacts come from; none for any other run. */
  readonly origins: readonly string[];
  readonly files: FileSource;
  /** Of its channel; null where the account has none. Of several tariffs, the staged contacts know which is theirs. */
  readonly rates: RunRates | null;
  /** So many requests are sent, and waited for, before any other; null: all alike. */
  readonly canary: number | null;
  /** Only of a run with sending windows. */
  readonly window?: PlanWindow | undefined;
  /** Looks at what is sent in which window, where there is a deadline; when it throws, there is no run. */
  readonly checkForecast?: ((portions: readonly WindowTotals[]) => void) | undefined;
  readonly priority: Priority;
  /** Puts the first slices into the queue, in the same transaction. */
  readonly enqueue: (client: Transaction) => Promise<unknown>;
  /** The last step before the commit, once the run's files were read; when it throws, there is no run. */
  readonly complete?: ((client: Transaction) => Promise<unknown>) | undefined;
  /** Looks at what the run would be; when it throws, there is no run. */
  readonly checkPlan: (totals: readonly BillingTotal[], leftOut: LeftOutCounts) => void;
  readonly createdAt: Date;
};

/** Contacts that expansion left out; those that import left out are not among them. */
export type LeftOutCounts = {
  readonly duplicate: number;
  readonly suppressed: number;
  /** Of the duplicates, those whom earlier runs reached, may have reached or still will. */
  readonly reached: readonly ReachedContacts[];
  readonly repeated: DuplicateContacts;
};

/** Recipients of a run who are billed alike, by one tariff. `parts`: SMS parts, null in other channels. */
export type BillingTotal = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  /** The place of the tariff in the run's rates. */
  readonly tariff: number;
  readonly recipients: number;
  readonly parts: number | null;
  /** The first address in the order of texts; null where all recipients of the run have the same tariff. */
  readonly example: string | null;
};

/** Whether its recipients differ in their tariffs. */
export function hasTariffs({ rates }: Pick<PlannedRun, 'rates'>): boolean {
  return rates !== null && rates.tariffs.length > 1;
}
