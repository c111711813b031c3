import type { ContactFindings, ContactIdentity } from '../domain/contacts.ts';
import { type Problem, RefusedRunError } from '../domain/problems.ts';
import { formatReason } from '../domain/reasons.ts';
import type {
  CappedContacts,
  DuplicateContacts,
  ReachedContacts,
  RejectionDetail,
} from '../domain/rejected-contacts.ts';
import { formatPercent } from '../domain/scalar-text.ts';
import { count } from '../platform/sentence.ts';
import type { Campaign } from './campaign.ts';
import type { Guards } from './contacts-definition.ts';

type PlannedContacts = {
  readonly duplicate: number;
  readonly suppressed: number;
  /** Those of the suppressed ones that are beyond a cap. */
  readonly capped: readonly CappedContacts[];
  /** Duplicates that earlier runs reached, may have reached or will reach; the largest group first. */
  readonly reached: readonly ReachedContacts[];
  readonly repeated: DuplicateContacts;
  readonly recipients: number;
};

/**
 * Checks a plan against `contacts.allowEmpty`, `maxInvalid`, `minRecipients` and `duplicates`.
 *
 * @param fileAndLine formats a line number counted over all files
 * @throws RefusedRunError with the likely cause and the first invalid rows
 */
export function checkRecipients(
  { value: { campaign, contacts }, locate }: Campaign,
  found: ContactFindings,
  planned: PlannedContacts,
  fileAndLine: (line: number) => string,
): void {
  const faults = [
    ...guardFaults(contacts, found, planned),
    ...repeatedFaults(contacts, planned.repeated, fileAndLine),
  ];
  if (faults.length === 0) return;
  const problems = faults.map(({ key, what }): Problem => ({ where: locate(['contacts', key]), what }));
  const examples = found.examples.map(({ where, detail }): Problem => ({ where, what: `${detail}.` }));
  const { read, invalid } = found;
  const { recipients, duplicate, suppressed } = planned;
  const reason = faults.map(({ what }) => what).join(' ');
  const counts = { read, invalid, duplicate, suppressed };
  throw new RefusedRunError({ campaign, contacts: counts, recipients, reason }, [...problems, ...examples]);
}

type Fault = { readonly key: keyof Guards | 'duplicates'; readonly what: string };

function repeatedFaults(
  { duplicates }: Pick<ContactIdentity, 'duplicates'>,
  repeated: DuplicateContacts,
  fileAndLine: (line: number) => string,
): Fault[] {
  if (duplicates !== 'refuse' || repeated.rows === 0) return [];
  const examplesText = formatRepeated(repeated, fileAndLine);
  const what = `${count(repeated.rows, 'row')} ${repeated.rows === 1 ? 'repeats' : 'repeat'} an earlier one, and "contacts.duplicates" is refuse, so Volley makes no run: ${examplesText}.`;
  return [{ key: 'duplicates', what }];
}

function formatRepeated(
  { examples }: Pick<DuplicateContacts, 'examples'>,
  fileAndLine: (line: number) => string,
): string {
  return examples.map(({ line, detail }) => `${fileAndLine(line)} (${formatReason(detail)})`).join('; ');
}

/** A sentence about skipped duplicates with different content; undefined if there are none. */
export function formatDiffering(
  { differing, examples }: DuplicateContacts,
  fileAndLine: (line: number) => string,
): string | undefined {
  if (differing === 0) return undefined;
  const examplesText = formatRepeated({ examples: examples.slice(0, differing) }, fileAndLine);
  return `${count(differing, 'skipped duplicate row')} would get another message, other files or another billing than the row that stays: ${examplesText}. Set "contacts.key" to the columns that tell them apart, or "contacts.duplicates: allow".`;
}

function guardFaults(guards: Guards, found: ContactFindings, planned: PlannedContacts): Fault[] {
  const faults: Fault[] = [];
  const why = formatExclusions(found, planned);
  const withAddress = found.read - found.empty;
  const invalid = found.invalid - found.empty;
  if (planned.recipients === 0 && !guards.allowEmpty) {
    const what = `No recipient is left, so Volley makes no run: ${why}. To allow an empty run, set "contacts.allowEmpty: true".`;
    return [{ key: 'allowEmpty', what }];
  }
  const { maxInvalid } = guards;
  const isOver = 'share' in maxInvalid ? invalid > maxInvalid.share * withAddress : invalid > maxInvalid.rows;
  if (isOver) {
    const limit = 'share' in maxInvalid ? formatPercent(maxInvalid.share) : count(maxInvalid.rows, 'row');
    const what = `More rows are invalid than "contacts.maxInvalid" allows (${limit}), so Volley makes no run: ${why}.`;
    faults.push({ key: 'maxInvalid', what });
  }
  if (planned.recipients < guards.minRecipients) {
    const few = `${count(planned.recipients, 'recipient')} ${planned.recipients === 1 ? 'is' : 'are'}`;
    const what = `Only ${few} left, and "contacts.minRecipients" is ${guards.minRecipients.toLocaleString('en')}, so Volley makes no run: ${why}.`;
    faults.push({ key: 'minRecipients', what });
  }
  return faults;
}

/** Completes a sentence: `2,539 of 2,539 invalid (2,539 …)`. */
function formatExclusions(
  { read, filtered, invalid, causes }: ContactFindings,
  { duplicate, suppressed, capped, reached }: PlannedContacts,
): string {
  if (read === 0) {
    return filtered > 0
      ? `"contacts.where" excludes all rows (${filtered.toLocaleString('en')})`
      : 'the contact files have a header and no row';
  }
  const parts = [
    [invalid, `invalid (${causes.join('; ')})`],
    [duplicate, reached.length > 0 ? `duplicate (${formatGroups(reached)})` : 'duplicate'],
    [suppressed, capped.length > 0 ? `suppressed (${formatGroups(capped)})` : 'suppressed'],
  ] as const;
  const [first, ...others] = parts.filter(([rows]) => rows > 0);
  if (!first) return `${read.toLocaleString('en')} rows were read`;
  const verb = first[0] === 1 ? 'is' : 'are';
  return [
    `${first[0].toLocaleString('en')} of ${count(read, 'row')} ${verb} ${first[1]}`,
    ...others.map(([rows, what]) => `${rows.toLocaleString('en')} ${what}`),
  ].join(', ');
}

const maxShownGroups = 3;

/** Contacts that are left out, by their reason: `2 reached by run …`. */
export function formatGroups(
  groups: readonly { readonly rows: number; readonly detail: RejectionDetail }[],
): string {
  const shown = groups
    .slice(0, maxShownGroups)
    .map(({ rows, detail }) => `${rows.toLocaleString('en')} ${formatReason(detail)}`);
  return [...shown, ...(groups.length > maxShownGroups ? ['and others'] : [])].join('; ');
}
