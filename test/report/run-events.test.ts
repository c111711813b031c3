import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/ledger/events/event.ts';
import { toRanges } from '../../src/report/run/request-ranges.ts';
import { eventToJson, formatEvents, isNoteworthy } from '../../src/report/run/run-events.ts';

const at = new Date('2026-11-23T01:50:10Z');
const run = '261123-7k2mq';
const messageId = '0000000100000060dbab1f45e0ea9fee54cf';

function accepted(...requests: number[]): RunEvent {
  return { kind: 'accepted', run, at, requests, httpStatuses: [200], took: [12, 35], jobNumbers: [] };
}

function delivered(request: number, address: string | null = null): RunEvent {
  const words = { outcome: 'delivered', status: 'Success', result: 'delivered' } as const;
  return {
    kind: 'report',
    run,
    at,
    report: request,
    request,
    position: 1,
    messageId,
    state: 'applied',
    ...words,
    address,
  };
}

function attempt(request: number, changes: Partial<Extract<RunEvent, { kind: 'attempt' }>> = {}): RunEvent {
  const answer = { verdict: 'rejected', httpStatus: 400, reason: 'HTTP 400: no such number' };
  return { kind: 'attempt', run, at, request, messageId, attempt: 1, ...answer, ...changes };
}

const linesOf = (events: readonly RunEvent[], limit = 40): string[] =>
  formatEvents(events, { withRun: false }, limit).map((line) => line.slice('2026-11-23 01:50:10  '.length));

test('neighbouring acceptances are one line, and so are neighbouring deliveries', () => {
  const events = [
    accepted(101, 102),
    accepted(103, 150),
    attempt(7),
    delivered(3),
    delivered(1),
    delivered(2),
  ];
  expect(linesOf(events)).toEqual([
    'accepted     4 requests (101–103, 150), 12–35 ms',
    `rejected     request 7, attempt 1: HTTP 400: no such number  (${messageId})`,
    'delivered    3 recipients of requests 1–3',
  ]);
});

test('deliveries with addresses are lines of their own', () => {
  expect(linesOf([delivered(1, '+61412000001'), delivered(2, '+61412000002')])).toEqual([
    'delivered    request 1, recipient 1, +61412000001: Success',
    'delivered    request 2, recipient 1, +61412000002: Success',
  ]);
});

test('of too many events the ordinary ones are counted, and the others are shown as far as there is room', () => {
  const many = Array.from({ length: 2_500 }, (_, index) => [accepted(index * 2 + 1), attempt(index * 2 + 2)]);
  const lines = linesOf(many.flat(), 3);
  expect(lines).toHaveLength(4);
  expect(lines.slice(0, 3).every((line) => line.startsWith('rejected'))).toBe(true);
  expect(lines.at(-1)).toBe('…            2,500 more accepted, 2,497 more rejected');
});

test('a line has the time of the day on a terminal, and the run if there are several', () => {
  const screen = { width: 80, colour: false, zone: 'Pacific/Auckland' };
  expect(
    formatEvents(
      [{ kind: 'state', run, at, state: 'completed', reason: null }],
      { screen, withRun: true },
      40,
    ),
  ).toEqual([`14:50:10  ${run}  completed`]);
});

test('control characters in the words of the service are shown by their codes', () => {
  const [line = ''] = linesOf([attempt(1, { reason: 'no\u001b[2Jsuch\nnumber' })]);
  expect(line).toContain('no\\x1b[2Jsuch\\x0anumber');
});

test('the JSON of an event has ranges of requests, and reasons in words', () => {
  expect(eventToJson(accepted(1, 2, 3, 7))).toMatchObject({
    event: 'accepted',
    count: 4,
    requests: [
      [1, 3],
      [7, 7],
    ],
  });
  expect(eventToJson(attempt(1, { verdict: 'in_doubt', reason: { kind: 'worker_ended' } }))).toMatchObject({
    event: 'attempt',
    reason: 'the process that was sending it ended before the answer was recorded',
  });
});

test('what is not accepted or delivered is noteworthy', () => {
  expect([accepted(1), delivered(1), attempt(1, { verdict: 'accepted' })].some(isNoteworthy)).toBe(false);
  expect([attempt(1), attempt(1, { verdict: 'retry' })].every(isNoteworthy)).toBe(true);
});

test('ranges join neighbours only', () => {
  expect(toRanges([1, 2, 3, 5, 7, 8])).toEqual([
    [1, 3],
    [5, 5],
    [7, 8],
  ]);
  expect(toRanges([])).toEqual([]);
});
