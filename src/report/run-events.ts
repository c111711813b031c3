import type { AcceptedRequests, ReceivedReport, ResolvedRequests, RunEvent } from '../ledger/events/event.ts';
import { formatReason, formatReasonOrNull } from '../platform/reason-text.ts';
import { printable } from './printable.ts';
import { plainScreen, type Screen, styled, type Tone, toneOf } from './screen.ts';
import { formatTime } from './time.ts';

export type EventLines = {
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
 * Lines in order of time. Neighbouring acceptances of a run are one line. If there are more than `limit`, the ordinary
 * ones are only counted, and of the others the first are shown.
 */
export function formatEvents(events: readonly RunEvent[], lines: EventLines, limit: number): string[] {
  const merged = mergeAccepted(events);
  if (merged.length <= limit) return merged.map((event) => formatEvent(event, lines));
  const noteworthy = merged.filter(isNoteworthy);
  const shown = noteworthy.slice(0, limit);
  const left = [...merged.filter((event) => !isNoteworthy(event)), ...noteworthy.slice(limit)];
  return [...shown.map((event) => formatEvent(event, lines)), countText(left, lines)];
}

function mergeAccepted(events: readonly RunEvent[]): RunEvent[] {
  const merged: RunEvent[] = [];
  for (const event of events) {
    const before = merged.at(-1);
    if (event.kind === 'accepted' && before?.kind === 'accepted' && before.run === event.run) {
      merged[merged.length - 1] = {
        ...event,
        requests: [...before.requests, ...event.requests].toSorted((one, other) => one - other),
        httpStatuses: [...new Set([...before.httpStatuses, ...event.httpStatuses])],
        took: [Math.min(before.took[0], event.took[0]), Math.max(before.took[1], event.took[1])],
        jobNumbers: [...before.jobNumbers, ...event.jobNumbers],
      };
    } else merged.push(event);
  }
  return merged;
}

/** `… 8,200 more accepted, 2,950 more delivered`. */
function countText(events: readonly RunEvent[], { screen = plainScreen, withRun }: EventLines): string {
  const counts = new Map<string, number>();
  for (const event of events) {
    const word = wordOf(event);
    const number = event.kind === 'accepted' ? event.requests.length : 1;
    counts.set(word, (counts.get(word) ?? 0) + number);
  }
  const texts = [...counts].map(([word, count]) => `${count.toLocaleString('en')} more ${word}`);
  const last = events.at(-1);
  return columns(
    last ? formatClock(screen, last.at) : '',
    withRun ? '' : undefined,
    '…'.padEnd(wordWidth),
    texts.join(', '),
  );
}

function formatEvent(event: RunEvent, { screen = plainScreen, withRun }: EventLines): string {
  const word = wordOf(event);
  const detail = printable(detailOf(event));
  const what = styled(detail === '' ? word : word.padEnd(wordWidth), toneOfWord(word), screen);
  const run = withRun ? (event.run ?? '') : undefined;
  return columns(formatClock(screen, event.at), run, what, detail);
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
      return formatAccepted(event);
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

function formatAccepted({ requests, httpStatuses, took: [min, max], jobNumbers }: AcceptedRequests): string {
  const [only] = jobNumbers;
  const parts = [
    formatRequests(requests),
    min === max ? `${min} ms` : `${min}–${max} ms`,
    ...(httpStatuses.some((status) => status !== 200) ? [`HTTP ${httpStatuses.join(', ')}`] : []),
    ...(only === undefined
      ? []
      : [jobNumbers.length === 1 ? `job number ${only}` : `${jobNumbers.length} job numbers`]),
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

/** Ranges that are shown before the others are counted. */
const maxRanges = 4;

/** `request 7`, or `52 requests: 101–150, 160 and 161`. */
function formatRequests(requests: readonly number[]): string {
  const ranges = toRanges(requests);
  const [first] = ranges;
  if (requests.length === 1) return `request ${requests[0]}`;
  if (ranges.length === 1 && first) return `requests ${formatRange(first)}`;
  const shown = ranges.length > maxRanges ? ranges.slice(0, maxRanges - 1) : ranges;
  const more = ranges.length - shown.length;
  const texts = [...shown.map(formatRange), ...(more > 0 ? [`${more} more ranges`] : [])];
  return `${requests.length.toLocaleString('en')} requests (${texts.join(', ')})`;
}

export type Range = readonly [first: number, last: number];

/** @param numbers ascending */
export function toRanges(numbers: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const number of numbers) {
    const before = ranges.at(-1);
    if (before && number === before[1] + 1) ranges[ranges.length - 1] = [before[0], number];
    else ranges.push([number, number]);
  }
  return ranges;
}

function formatRange([first, last]: Range): string {
  return first === last ? String(first) : `${first}–${last}`;
}

/** One object of the JSON output. Requests are ranges, because a commit can have thousands of them. */
export function eventToJson(event: RunEvent): Record<string, unknown> {
  const { kind, at, ...fields } = event;
  const reason = 'reason' in fields ? { reason: formatReasonOrNull(fields.reason) } : {};
  const requests =
    'requests' in fields ? { count: fields.requests.length, requests: toRanges(fields.requests) } : {};
  return { at, event: kind, ...fields, ...reason, ...requests };
}
