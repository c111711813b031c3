import { formatReason, formatReasonOrNull } from '../../domain/reasons.ts';
import type {
  AcceptedRequests,
  ReceivedReport,
  ResolvedRequests,
  RunEvent,
} from '../../ledger/events/event.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../printable.ts';
import { plainScreen, type Screen, styled, type Tone, toneOf } from '../screen.ts';
import { formatTime } from '../time.ts';
import { formatRequests, toRanges } from './request-ranges.ts';

type EventLines = {
  readonly screen?: Screen;
  /** Whether each line names its run. */
  readonly withRun: boolean;
};

/** Whether a person who looks for failures wants to see it. */
export function isNoteworthy(event: RunEvent): boolean {
  switch (event.kind) {
    case 'accepted':
      return false;
    case 'attempt':
      return event.verdict !== 'accepted';
    case 'report':
      return event.state !== 'unchanged' && event.outcome !== 'delivered' && event.outcome !== 'pending';
    default:
      return true;
  }
}

/**
 * Lines in order of time. Neighbouring acceptances of a run are one line, and so are neighbouring deliveries. If there
 * are more than `limit`, the ordinary ones are only counted, and of the others the first are shown.
 */
export function formatEvents(events: readonly RunEvent[], lines: EventLines, limit: number): string[] {
  const groups = groupOrdinary(events);
  if (groups.length <= limit) return groups.map((group) => formatGroup(group, lines));
  const noteworthy = groups.filter(([first]) => isNoteworthy(first));
  const left = [...groups.filter(([first]) => !isNoteworthy(first)), ...noteworthy.slice(limit)];
  return [
    ...noteworthy.slice(0, limit).map((group) => formatGroup(group, lines)),
    countText(left.flat(), lines),
  ];
}

type Group = [first: RunEvent, ...others: RunEvent[]];

function groupOrdinary(events: readonly RunEvent[]): Group[] {
  const groups: Group[] = [];
  for (const event of events) {
    const group = groups.at(-1);
    if (group && isOrdinaryPair(group[0], event)) group.push(event);
    else groups.push([event]);
  }
  return groups;
}

function isOrdinaryPair(one: RunEvent, other: RunEvent): boolean {
  if (one.run !== other.run) return false;
  return one.kind === 'accepted' ? other.kind === 'accepted' : isDelivery(one) && isDelivery(other);
}

/** A line with an address is about one recipient. */
function isDelivery(event: RunEvent): boolean {
  return event.kind === 'report' && wordOfReport(event) === 'delivered' && event.address === null;
}

function formatGroup([first, ...others]: Group, lines: EventLines): string {
  const last = others.at(-1);
  if (!last) return formatEvent(first, lines);
  const group = [first, ...others];
  const accepted = group.filter((event) => event.kind === 'accepted');
  const reported = group.flatMap((event) => (event.kind === 'report' ? (event.request ?? []) : []));
  const detail =
    accepted.length > 0
      ? formatAccepted(accepted)
      : `${count(group.length, 'recipient')} of ${formatRequests(ascending(reported))}`;
  return formatLine(last, detail, lines);
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((one, other) => one - other);
}

/** `… 8,200 more accepted, 2,950 more delivered`. */
function countText(events: readonly RunEvent[], { screen = plainScreen, withRun }: EventLines): string {
  const counts = new Map<string, number>();
  for (const event of events) {
    const word = wordOf(event);
    const number = event.kind === 'accepted' ? event.requests.length : 1;
    counts.set(word, (counts.get(word) ?? 0) + number);
  }
  const texts = [...counts].map(([word, number]) => `${number.toLocaleString('en')} more ${word}`);
  const last = events.at(-1);
  return columns(
    last ? formatClock(screen, last.at) : '',
    withRun ? '' : undefined,
    '…'.padEnd(wordWidth),
    texts.join(', '),
  );
}

function formatEvent(event: RunEvent, lines: EventLines): string {
  return formatLine(event, detailOf(event), lines);
}

function formatLine(event: RunEvent, detail: string, { screen = plainScreen, withRun }: EventLines): string {
  const word = wordOf(event);
  const what = styled(detail === '' ? word : word.padEnd(wordWidth), toneOfWord(word), screen);
  const run = withRun ? (event.run ?? '') : undefined;
  return columns(formatClock(screen, event.at), run, what, printable(detail));
}

const wordWidth = 11;

function columns(time: string, run: string | undefined, what: string, detail: string): string {
  const parts = [
    time,
    ...(run === undefined ? [] : [run.padEnd(12)]),
    what,
    ...(detail === '' ? [] : [detail]),
  ];
  return parts.join('  ');
}

/** A terminal shows the time of the day; a file is read later. */
function formatClock(screen: Screen, at: Date): string {
  const time = formatTime(screen, at);
  return screen.width === undefined ? time : time.slice(11);
}

function wordOf(event: RunEvent): string {
  switch (event.kind) {
    case 'state':
    case 'settled':
      return event.state.replace('_', ' ');
    case 'attempt':
      return event.verdict.replace('_', ' ');
    case 'report':
      return wordOfReport(event);
    default:
      return event.kind;
  }
}

function wordOfReport({ state, outcome }: ReceivedReport): string {
  if (state === 'inbound') return 'reply';
  return state === 'applied' || outcome === 'pending' ? (outcome ?? state) : state;
}

function toneOfWord(word: string): Tone | undefined {
  if (/^(retry|unauthorized|unmatched|unreadable|conflicting)$/.test(word)) return 'doubtful';
  return toneOf(word);
}

function detailOf(event: RunEvent): string {
  switch (event.kind) {
    case 'state':
      return event.reason === null ? '' : formatReason(event.reason);
    case 'accepted':
      return formatAccepted([event]);
    case 'attempt': {
      const { request, attempt, httpStatus, reason, messageId } = event;
      const answer = [httpStatus === null ? undefined : `HTTP ${httpStatus}`, formatReasonOrNull(reason)];
      // Most words of the service repeat the status.
      const said = answer.filter((text, index) => text && !(index === 0 && answer[1]?.startsWith(text)));
      return `request ${request}, attempt ${attempt}${said.length > 0 ? `: ${said.join(', ')}` : ''}  (${messageId})`;
    }
    case 'settled':
      return `request ${event.request}: ${formatReasonOrNull(event.reason) ?? event.state}  (${event.messageId})`;
    case 'resolved':
      return formatResolved(event);
    case 'report':
      return formatReport(event);
  }
}

function formatAccepted(events: readonly AcceptedRequests[]): string {
  const min = Math.min(...events.map(({ took }) => took[0]));
  const max = Math.max(...events.map(({ took }) => took[1]));
  const statuses = [...new Set(events.flatMap(({ httpStatuses }) => httpStatuses))];
  const jobNumbers = events.flatMap((event) => event.jobNumbers);
  const [only] = jobNumbers;
  const parts = [
    formatRequests(ascending(events.flatMap(({ requests }) => requests))),
    min === max ? `${min} ms` : `${min}–${max} ms`,
    ...(statuses.some((status) => status !== 200) ? [`HTTP ${statuses.join(', ')}`] : []),
    ...(only === undefined
      ? []
      : [jobNumbers.length === 1 ? `job number ${only}` : count(jobNumbers.length, 'job number')]),
  ];
  return parts.join(', ');
}

function formatResolved({ requests, resolution, by, words }: ResolvedRequests): string {
  return `${formatRequests(requests)}: ${resolution}, by ${by}: ${words}`;
}

function formatReport({
  request,
  position,
  status,
  result,
  outcome,
  address,
  messageId,
  report,
}: ReceivedReport): string {
  const recipient = [
    ...(request === null ? [] : [`request ${request}`]),
    ...(position === null ? [] : [`recipient ${position}`]),
    ...(address === null ? [] : [address]),
  ];
  // Most words of the service repeat the outcome.
  const words = [...new Set([status, result])].filter((text) => text && text.toLowerCase() !== outcome);
  const said = words.length > 0 ? `: ${words.join(', ')}` : '';
  const known = request === null ? `delivery report ${report}${messageId ? ` of ${messageId}` : ''}` : '';
  return `${recipient.join(', ')}${known}${said}`;
}

/** One object of the JSON output. Requests are ranges, because a commit can have thousands of them. */
export function eventToJson(event: RunEvent): Record<string, unknown> {
  const { kind, at, ...fields } = event;
  const reason = 'reason' in fields ? { reason: formatReasonOrNull(fields.reason) } : {};
  const requests =
    'requests' in fields ? { count: fields.requests.length, requests: toRanges(fields.requests) } : {};
  return { at, event: kind, ...fields, ...reason, ...requests };
}
