import { frequencyOwners } from './caps.ts';
import type { RejectedContact } from './contacts.ts';
import { type Channel, channels } from './message.ts';
import {
  bareKind,
  either,
  flag,
  type Guard,
  isReasonOf,
  number,
  oneOf,
  type ReasonKind,
  type ReasonOf,
  reasonKind,
  text,
  textOrNull,
  texts,
} from './reason-kind.ts';
import { formatDuration } from './scalar-text.ts';
import { type SuppressionSource, suppressionSources } from './suppressions.ts';

const reachedBy = (words: string): ReasonKind<{ readonly run: string }> =>
  reasonKind({ run: text }, ({ run }) => `${words} by run ${run}`);

/** A run has reached the contact, will reach it, or may have reached it. `sent_again`: by a rerun of this run. */
export const reachedKinds = {
  sent: reachedBy('reached'),
  to_be_sent: reachedBy('to be reached'),
  may_have_been_sent: reachedBy('may have been reached'),
  sent_again: reachedBy('reached again'),
};
export type ReachedReason = ReasonOf<typeof reachedKinds>;

/**
 * An earlier contact is identical. `key`: columns that identify contacts (none: the address). `file` and `line`: where
 * the earlier contact stands; `file` is null if there is only one. `differs`: whether its message would differ.
 */
export const repeatedKinds = {
  same_contact: reasonKind(
    { key: texts, file: textOrNull, line: number, differs: flag },
    ({ key, file, line, differs }) => {
      const columns = key.map((column) => `"${column}"`).join(' and ');
      const earlier = file === null ? `line ${line}` : `${file}:${line}`;
      return `same ${columns || 'address'} as ${earlier}${differs ? ', but its message differs' : ''}`;
    },
  ),
};
export type DuplicateReason = ReasonOf<typeof repeatedKinds>;

/** `subAccount` is empty for all SubAccounts. */
const scope = { channel: oneOf(channels), subAccount: text };

export const suppressedKinds = {
  /** `reason`: words of the operator, recipient or service. `run`: the run of the reply or delivery report. */
  suppressed_address: reasonKind(
    { ...scope, source: oneOf(suppressionSources), reason: text, run: textOrNull },
    (suppressed) => {
      const why = formatSuppressionReason(suppressed);
      return `suppressed for ${formatScope(suppressed)}${why === '' ? '' : `: ${why}`}`;
    },
  ),
  suppressed_hash: reasonKind(
    scope,
    (suppressed) => `suppressed for ${formatScope(suppressed)}, known only by its hash`,
  ),
  /** In a suppression file of the campaign. */
  listed: reasonKind({ file: text, line: number }, ({ file, line }) => `listed in ${file}:${line}`),
  /** Within that time; `run` is null for a run of another account. */
  sent_recently: reasonKind({ milliseconds: number, run: textOrNull }, ({ milliseconds, run }) => {
    const by = run === null ? 'a run of another account' : `run ${run}`;
    return `reached within ${formatDuration(milliseconds)}, by ${by}`;
  }),
  /** `run`: the latest run of the account that counts; null: none, or only runs of other accounts. */
  over_frequency: reasonKind(
    { most: number, milliseconds: number, of: oneOf(frequencyOwners), run: textOrNull },
    ({ most, milliseconds, of, run }) => {
      const messages = most === 1 ? '1 message' : `${most} messages`;
      const latest = run === null ? '' : `, the latest by run ${run}`;
      return `would get more than ${messages} within ${formatDuration(milliseconds)} (frequency of the ${of})${latest}`;
    },
  ),
  over_daily_limit: reasonKind(
    { most: number },
    ({ most }) => `beyond the ${most.toLocaleString('en')} recipients a day of the account`,
  ),
  /** Of a campaign with variants. */
  control_group: bareKind('in the control group'),
};
export type SuppressedReason = ReasonOf<typeof suppressedKinds>;

/** Why a contact was rejected. Text: what is wrong with its row. */
export type RejectionDetail = string | ReachedReason | DuplicateReason | SuppressedReason;
export const rejectionKinds = { ...reachedKinds, ...repeatedKinds, ...suppressedKinds };
export const isRejectionDetail: Guard<RejectionDetail> = either(text, isReasonOf(rejectionKinds));

function formatScope({ channel, subAccount }: { readonly channel: Channel; readonly subAccount: string }) {
  return subAccount === '' ? channel : `${channel} of SubAccount ${subAccount}`;
}

/** Empty: no words and no run. */
export function formatSuppressionReason(suppressed: {
  readonly source: SuppressionSource;
  readonly reason: string;
  readonly run: string | null;
}): string {
  const { source, reason, run } = suppressed;
  const words = source === 'reply' && reason !== '' ? `replied "${reason}"` : reason;
  return run === null ? words : `${words} (run ${run})`;
}

/** A rejected contact as the ledger stores it. */
export type RejectedContactRecord = Omit<RejectedContact, 'detail'> & { readonly detail: RejectionDetail };

/** Contacts rejected because the run in `detail` reached them, may have, or still will. */
export type ReachedContacts = { readonly rows: number; readonly detail: ReachedReason };

/** Contacts left out by the cap in `detail`, which names no run. */
export type CappedContacts = { readonly rows: number; readonly detail: SuppressedReason };

/** Contacts identical to an earlier one. */
export type DuplicateContacts = {
  readonly rows: number;
  /** How many differ from the contact that stays in address, message, files or billing. */
  readonly differing: number;
  /** The differing ones first. `line` counts on from file to file. */
  readonly examples: readonly { readonly line: number; readonly detail: DuplicateReason }[];
};

/**
 * Reasons for leaving out a valid row, without details that change while a run is sent. Such a row is stored as rejected:
 * `reached` and `repeated` as `duplicate`, the others as `suppressed`.
 */
export const leftOutGroups = {
  suppressed_address: 'suppressed',
  suppressed_hash: 'suppressed',
  listed: 'listed',
  sent_recently: 'sent recently',
  over_frequency: 'over frequency',
  over_daily_limit: 'over daily limit',
  control_group: 'control group',
  sent: 'reached',
  to_be_sent: 'reached',
  may_have_been_sent: 'reached',
  sent_again: 'reached',
  same_contact: 'repeated',
} as const satisfies Readonly<Record<keyof typeof rejectionKinds, string>>;

/** The key of a campaign that leaves the control group out, where other rejected contacts have a column of their file. */
export const controlGroupColumn = 'variants';

/** What is said of one row, and of several. */
export const leftOutWords: Readonly<Record<LeftOutGroup, readonly [string, string]>> = {
  suppressed: ['is suppressed', 'are suppressed'],
  listed: ['is in a suppression file of the campaign', 'are in a suppression file of the campaign'],
  'sent recently': ['got a message within "contacts.notWithin"', 'got a message within "contacts.notWithin"'],
  'over frequency': ['is beyond "frequency"', 'are beyond "frequency"'],
  'over daily limit': ['is beyond "limits.recipientsPerDay"', 'are beyond "limits.recipientsPerDay"'],
  'control group': ['is in the control group', 'are in the control group'],
  reached: ['was reached by another run of these contacts', 'were reached by another run of these contacts'],
  repeated: ['repeats an earlier one', 'repeat an earlier one'],
};

/** How many rows are left out, and which: a digest of their lines and groups. */
export type LeftOutDigest = {
  readonly counts: Readonly<Partial<Record<LeftOutGroup, number>>>;
  readonly sha256: string;
};

export type LeftOutGroup = (typeof leftOutGroups)[keyof typeof leftOutGroups];
