import type { ContactFindings, ContactIdentity } from '../domain/contacts.ts';
import { type Problem, RefusedRunError } from '../domain/problems.ts';
import type { RejectionDetail } from '../domain/reasons.ts';
import type { DuplicateContacts, ReachedContacts } from '../domain/rejected-contacts.ts';
import { formatReason } from '../platform/reason-text.ts';
import { formatPercent } from '../platform/scalar-text.ts';
import type { Campaign } from './campaign.ts';
import type { Guards } from './guards-definition.ts';

export type LeftOfContacts = {
  readonly duplicate: number;
  readonly suppressed: number;
  /** Of the duplicates, those whom earlier runs reached, may have reached or still will; the most first. */
  readonly reached: readonly ReachedContacts[];
  readonly repeated: DuplicateContacts;
  readonly recipients: number;
};

const count = new Intl.NumberFormat('en');

/**
 * Holds a plan against `contacts.allowEmpty`, `maxInvalid`, `minRecipients` and `duplicates`.
 *
 * @param placeOf a line of all files together, as people are told it
 *
 * @throws RefusedRunError with the likely cause and the first invalid rows
 */
export function checkRecipients(
  { value: { campaign, contacts }, locate }: Campaign,
  found: ContactFindings,
  left: LeftOfContacts,
  placeOf: (line: number) => string,
): void {
  const faults = [...faultsOf(contacts, found, left), ...repeatedFaults(contacts, left.repeated, placeOf)];
  if (faults.length === 0) return;
  const problems = faults.map(({ key, what }): Problem => ({ where: locate(['contacts', key]), what }));
  const examples = found.examples.map(
    ({ file, line, detail }): Problem => ({ where: `${file}:${line}`, what: `${detail}.` }),
  );
  const { read, invalid } = found;
  const { recipients, duplicate, suppressed } = left;
  const reason = faults.map(({ what }) => what).join(' ');
  const counts = { read, invalid, duplicate, suppressed };
  throw new RefusedRunError({ campaign, contacts: counts, recipients, reason }, [...problems, ...examples]);
}

type Fault = { readonly key: keyof Guards | 'duplicates'; readonly what: string };

function repeatedFaults(
  { duplicates }: Pick<ContactIdentity, 'duplicates'>,
  repeated: DuplicateContacts,
  placeOf: (line: number) => string,
): Fault[] {
  if (duplicates !== 'refuse' || repeated.rows === 0) return [];
  const some = repeatedText(repeated, placeOf);
  const what = `${counted(repeated.rows, 'row')} ${repeated.rows === 1 ? 'is' : 'are'} the same as an earlier one, and "contacts.duplicates" is refuse, so Volley makes no run: ${some}.`;
  return [{ key: 'duplicates', what }];
}

/** Where some repeated contacts stand, and which they repeat. */
export function repeatedText(
  { examples }: Pick<DuplicateContacts, 'examples'>,
  placeOf: (line: number) => string,
): string {
  return examples.map(({ line, detail }) => `${placeOf(line)} (${formatReason(detail)})`).join('; ');
}

/** A sentence for people about contacts that are left out although they are sent something else; undefined without any. */
export function differingText(
  { differing, examples }: DuplicateContacts,
  placeOf: (line: number) => string,
): string | undefined {
  if (differing === 0) return undefined;
  const some = repeatedText({ examples: examples.slice(0, differing) }, placeOf);
  return `${counted(differing, 'duplicate row')} left out would be sent another message, other files or be billed otherwise than the row that stays: ${some}. Set "contacts.key" to what tells them apart, or "contacts.duplicates: allow".`;
}

function faultsOf(guards: Guards, found: ContactFindings, left: LeftOfContacts): Fault[] {
  const faults: Fault[] = [];
  const why = whyLeftOut(found, left);
  const withAddress = found.read - found.empty;
  const invalid = found.invalid - found.empty;
  if (left.recipients === 0 && !guards.allowEmpty) {
    const what = `No recipient is left, so Volley makes no run: ${why}. Where such a run is right, set "contacts.allowEmpty: true".`;
    return [{ key: 'allowEmpty', what }];
  }
  const { maxInvalid } = guards;
  const isOver = 'share' in maxInvalid ? invalid > maxInvalid.share * withAddress : invalid > maxInvalid.rows;
  if (isOver) {
    const most = 'share' in maxInvalid ? formatPercent(maxInvalid.share) : counted(maxInvalid.rows, 'row');
    const what = `More rows are invalid than "contacts.maxInvalid" allows (${most}), so Volley makes no run: ${why}.`;
    faults.push({ key: 'maxInvalid', what });
  }
  if (left.recipients < guards.minRecipients) {
    const few = `${counted(left.recipients, 'recipient')} ${left.recipients === 1 ? 'is' : 'are'}`;
    const what = `Only ${few} left, and "contacts.minRecipients" is ${count.format(guards.minRecipients)}, so Volley makes no run: ${why}.`;
    faults.push({ key: 'minRecipients', what });
  }
  return faults;
}

/** Half a sentence: `2,539 of 2,539 invalid (2,539 …)`. */
function whyLeftOut(
  { read, filtered, invalid, causes }: ContactFindings,
  { duplicate, suppressed, reached }: LeftOfContacts,
): string {
  if (read === 0) {
    return filtered > 0
      ? `"contacts.where" leaves out all rows (${count.format(filtered)})`
      : 'the contact files have a header and no row';
  }
  const parts = [
    [invalid, `invalid (${causes.join('; ')})`],
    [duplicate, reached.length > 0 ? `duplicate (${reachedText(reached)})` : 'duplicate'],
    [suppressed, 'suppressed'],
  ] as const;
  const [first, ...others] = parts.filter(([rows]) => rows > 0);
  if (!first) return `${count.format(read)} rows were read`;
  const verb = first[0] === 1 ? 'is' : 'are';
  return [
    `${count.format(first[0])} of ${counted(read, 'row')} ${verb} ${first[1]}`,
    ...others.map(([rows, what]) => `${count.format(rows)} ${what}`),
  ].join(', ');
}

const shownRuns = 3;

/** Which runs reached, may have reached or still will reach contacts that are left out: `2 sent to by run …`. */
export function reachedText(
  reached: readonly { readonly rows: number; readonly detail: RejectionDetail }[],
): string {
  const shown = reached
    .slice(0, shownRuns)
    .map(({ rows, detail }) => `${count.format(rows)} ${formatReason(detail)}`);
  return [...shown, ...(reached.length > shownRuns ? ['and others'] : [])].join('; ');
}

function counted(number: number, what: string): string {
  return `${count.format(number)} ${what}${number === 1 ? '' : 's'}`;
}
