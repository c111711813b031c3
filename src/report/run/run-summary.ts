import {
  type DoubtGroup,
  type RunSummary,
  recipientStates,
  requestStates,
  type WindowWait,
} from '../../domain/runs.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../printable.ts';
import { plainScreen, type Screen, styled, toneOf } from '../screen.ts';
import { formatMinute } from '../time.ts';
import { countAccepted, countOutcomes, deliveredShare, runStateWords } from './run-outcome.ts';

/** Shows only states that occur. */
export function formatRunSummary(summary: RunSummary, screen: Screen = plainScreen): string {
  const { contacts, requests, recipients, reportedUnsent = 0, doubts = [], waits = [] } = summary;
  return [
    formatRunHead({ ...summary, state: runStateWords(summary.state, recipients.unknown) }, screen),
    contactsLine(contacts, screen),
    `  requests    ${formatCounts(
      requests.total,
      requestStates.map((name) => [requests[name], name] as const),
      screen,
    )}`,
    `  recipients  ${formatCounts(
      recipients.total,
      recipientStates.map((name) => [recipients[name], name] as const),
      screen,
    )}`,
    ...outcomeLines(summary, screen),
    ...(reportedUnsent > 0 ? [`              ${reportedUnsent} reported, not sent`] : []),
    ...formatDoubts(doubts, requests.in_doubt),
    ...formatWaits(waits, screen),
  ].join('\n');
}

/** Of contacts beyond a limit, or that wait for a winner. */
export const leftForLaterRun = 'left for a later run';

export function contactsLine(contacts: RunSummary['contacts'], screen: Screen = plainScreen): string {
  const left = [
    [contacts.invalid, 'invalid'],
    [contacts.duplicate, 'duplicate'],
    [contacts.suppressed, 'suppressed'],
    [contacts.beyondLimit ?? 0, leftForLaterRun],
  ] as const;
  return `  contacts    ${formatCounts(contacts.read, left, screen, 'read')}`;
}

/** What came of all contacts, once a delivery report has come. */
function outcomeLines({ contacts, recipients }: RunSummary, screen: Screen): string[] {
  const { delivered, undelivered } = recipients;
  if (delivered + undelivered === 0) return [];
  const counts = countOutcomes(recipients, contacts);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const parts = counts.map(({ outcome, count }) => [count, outcome] as const);
  const share = deliveredShare({ accepted: countAccepted(recipients), delivered });
  return [`  outcome     ${formatCounts(total, parts, screen)}; ${share} % delivered`];
}

/** A test must not be taken for the campaign itself. */
export function formatCampaign({ campaign, kind }: Pick<RunSummary, 'campaign' | 'kind'>): string {
  return kind === 'test' ? `${campaign} (test)` : campaign;
}

export function formatRunHead(
  { run, campaign, kind, state }: Pick<RunSummary, 'run' | 'campaign' | 'kind'> & { readonly state: string },
  screen: Screen,
): string {
  return `${styled(`Run ${run}`, 'title', screen)}  ${formatCampaign({ campaign, kind })}  ${styled(state, toneOf(state), screen)}`;
}

/** Why requests are in doubt. */
function formatDoubts(doubts: readonly DoubtGroup[], inDoubt: number): string[] {
  const lines = doubts.map(({ reason, requests }) => `${requests} in doubt: ${printable(reason)}`);
  if (doubts.length === 0) return [];
  const others = inDoubt - doubts.reduce((sum, { requests }) => sum + requests, 0);
  if (others > 0) lines.push(`${others} in doubt for other reasons`);
  return lines.map((line) => `  because     ${line}`);
}

const maxWaits = 5;

export function formatWaits(waits: readonly WindowWait[], screen?: Screen): string[] {
  const lines = waits
    .slice(0, maxWaits)
    .map(
      ({ timeZones, until, requests, recipients }) =>
        `${count(requests, 'request')} (${count(recipients, 'recipient')}) for ${requests === 1 ? 'its' : 'their'} window${formatZones(timeZones)}, until ${formatMinute(screen, new Date(until))}`,
    );
  const others = waits.slice(maxWaits);
  const left = others.reduce((sum, { requests }) => sum + requests, 0);
  if (others.length > 0) lines.push(`${count(left, 'more request')} for windows that open later`);
  return lines.map((line) => `  waiting     ${line}`);
}

/** ` in Pacific/Auckland and 2 more time zones`. */
function formatZones(timeZones: readonly string[]): string {
  const [zone, ...others] = timeZones;
  if (zone === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${count(others.length, 'more time zone')}`;
  return ` in ${zone}${more}`;
}

function formatCounts(
  total: number,
  parts: readonly (readonly [number, string])[],
  screen: Screen,
  word = '',
): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => styled(`${count} ${name.replace('_', ' ')}`, toneOf(name), screen));
  const head = word === '' ? String(total) : `${total} ${word}`;
  return shown.length === 0 ? head : `${head}: ${shown.join(', ')}`;
}
