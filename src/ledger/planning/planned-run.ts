import type { Frequency } from '../../domain/caps.ts';
import type { ContactIdentity } from '../../domain/contacts.ts';
import type { Channel } from '../../domain/message.ts';
import type { CostTotal, RunRates } from '../../domain/rate-card.ts';
import type {
  CappedContacts,
  DuplicateContacts,
  ReachedContacts,
  SuppressedReason,
} from '../../domain/rejected-contacts.ts';
import type { ContactCounts, Priority, RunKind } from '../../domain/runs.ts';
import { totalRecipients } from '../../domain/variants.ts';
import type { ContactFileRecord } from '../runs/contact-files.ts';
import type { FileSource } from '../runs/run-files.ts';
import type { Transaction } from '../session.ts';
import type { CanaryRule, PlannedCanary } from './canary.ts';
import type { PlanWindow } from './windows.ts';

/** The most messages that an address gets in a period, from the runs of a campaign and an account (null: of any). */
export type FrequencyCap = {
  readonly campaign: string | null;
  readonly account: string | null;
  readonly channels: readonly Channel[];
  readonly most: number;
  readonly since: Date;
  /** The period, from `since` to now. */
  readonly milliseconds: number;
} & (
  | { readonly kind: 'sent_recently' }
  /** Also counts messages that runs have planned, and those of the contacts themselves. */
  | { readonly kind: 'over_frequency'; readonly of: Frequency['of'] }
);

/** The most recipients of an account since the day began, in all channels, with those that runs have planned. */
export type DailyLimit = { readonly most: number; readonly since: Date };

export type PlannedVariants = {
  /** The number of the control group, which gets nothing. */
  readonly control: number | undefined;
  /** Whether contacts of the number 0 wait for the winner. */
  readonly hasRest: boolean;
};

/** What decides which contacts are sent, and in which requests. */
export type PlanRules = {
  readonly account: string;
  /** The account whose suppressions apply; by default its own. */
  readonly suppressionAccount?: string | undefined;
  readonly channel: Channel;
  readonly chunkSize: number;
  readonly recipientColumn: string;
  readonly identity: ContactIdentity;
  readonly frequencyCaps: readonly FrequencyCap[];
  readonly dailyLimit?: DailyLimit | undefined;
  readonly contactFiles: readonly Pick<ContactFileRecord, 'name' | 'linesBefore'>[];
  /** In a rerun: the run that its recipients come from. */
  readonly sourceRun: string | null;
  /** Only the first recipients, in file order; undefined: all. */
  readonly limit?: number | undefined;
  /** The runs that its corrected contacts were rejected in. */
  readonly origins: readonly string[];
  /** For its channel; null: none. Of several tariffs, staged contacts have an index. */
  readonly rates: RunRates | null;
  /** Undefined: all are sent without waiting. */
  readonly canary?: CanaryRule | undefined;
  /** Only with variants. */
  readonly variants?: PlannedVariants | undefined;
  /** Only with sending windows. */
  readonly window?: PlanWindow | undefined;
};

/** Those of them that the staged contacts decide. */
export type StagedRules = Omit<PlanRules, 'account' | 'suppressionAccount' | 'channel' | 'rates'>;

export type PlannedRun = Omit<PlanRules, 'contactFiles'> & {
  readonly run: string;
  readonly campaign: string;
  /** By default ordinary. */
  readonly kind?: RunKind;
  readonly definition: unknown;
  /** At least 128 random bits, for the checks of MessageIDs. */
  readonly messageKey: Buffer;
  readonly contactFiles: readonly ContactFileRecord[];
  readonly files: FileSource;
  /** Requests to send and settle before any other; null: none. */
  readonly firstRequests: number | null;
  readonly priority: Priority;
  /** Whether workers look at it while it is running. */
  readonly isWatched?: boolean;
  /** Queues the first slices, in the same transaction. */
  readonly enqueue: (client: Transaction) => Promise<unknown>;
  /** The last step before the commit; by throwing it prevents the run. */
  readonly complete?: ((client: Transaction) => Promise<unknown>) | undefined;
  /** By throwing it prevents the run. */
  readonly checkPlan: (client: Transaction, decided: Decided) => Promise<unknown> | undefined;
  readonly createdAt: Date;
};

/** Contacts that a limit removed, or that wait for the winner of variants. */
export type BeyondLimit = {
  readonly contacts: number;
  /** Paths of the files that only their messages carry, or also others. */
  readonly files: readonly string[];
};

/** What would be sent, and what would not. */
export type Decided = PlannedCounts & {
  readonly totals: readonly CostTotal[];
  /** The same of the contacts that wait for the winner, each with the longest of the variants. */
  readonly rest: readonly CostTotal[];
  /** The reasons of the first suppressed contacts. */
  readonly suppressedReasons: readonly SuppressedReason[];
  /** What is left for a later run; null: there is neither a limit nor a winner to wait for. */
  readonly beyondLimit: BeyondLimit | null;
  /** What goes first; null: nothing does, or it would be as large as the run. */
  readonly canary: PlannedCanary | null;
  /** By the earlier run that reached them, or may. */
  readonly reached: readonly ReachedContacts[];
  readonly repeated: DuplicateContacts;
  /** By the cap that they are beyond. */
  readonly capped: readonly CappedContacts[];
};

/** What a person decides about: what is sent now, and later to those that wait for the winner. */
export function withRest({ totals, rest, recipients }: Pick<Decided, 'totals' | 'rest' | 'recipients'>) {
  return { totals: [...totals, ...rest], recipients: recipients + totalRecipients(rest) };
}

export type PlannedCounts = {
  /** What was read, with everything that was left out. */
  readonly contacts: ContactCounts;
  readonly recipients: number;
  readonly requests: number;
  /** One that is sent in several windows counts several times. */
  readonly envelopes: number;
};

export function hasTariffs({ rates }: Pick<PlanRules, 'rates'>): boolean {
  return rates !== null && rates.tariffs.length > 1;
}
