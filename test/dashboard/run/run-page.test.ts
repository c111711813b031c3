import { expect, test } from 'vitest';
import { parseCursor } from '../../../src/dashboard/parts/list.ts';
import { plannedPart } from '../../../src/dashboard/plan/plan-page.ts';
import { pointsOf } from '../../../src/dashboard/run/result-parts.ts';
import { countsPart, livePart } from '../../../src/dashboard/run/run-page.ts';
import { runLinks } from '../../../src/dashboard/runs/waiting-part.ts';
import type { RunState } from '../../../src/domain/runs.ts';
import type { RunWait } from '../../../src/domain/waits.ts';
import type { LiveRun } from '../../../src/engine/live/live-runs.ts';
import { groupResults } from '../../../src/ledger/counts/answers.ts';
import { shortened } from '../../../src/report/html/cells.ts';
import { share } from '../../../src/report/html/figures.ts';
import { waitWords } from '../../../src/report/wait-words.ts';
import { aLiveRun, hostileTexts } from '../../support/live-run.ts';

const viewer = { zone: 'Pacific/Auckland', mayRun: true, mayApprove: true, mayAdmin: true };

const linksOf = (live: LiveRun, mayRun = true): string[] =>
  runLinks(live, { ...viewer, mayRun }).map(({ href }) => href.replace(/^.*\/|\?.*$/g, ''));

const inState = (state: RunState, waits: RunWait[] = []): LiveRun => aLiveRun({ state, waits });

test('a person is offered what the state of the run allows', () => {
  expect(linksOf(inState('running'))).toEqual(['pause', 'cancel']);
  expect(linksOf(inState('paused'))).toEqual(['resume', 'cancel']);
  expect(linksOf(inState('planned'))).toEqual(['resume', 'cancel']);
  expect(linksOf(inState('planned', [{ kind: 'approval', reason: null }]))).toEqual([
    'plan',
    'approve',
    'cancel',
  ]);
  expect(linksOf(inState('completed'))).toEqual([]);
  expect(linksOf(aLiveRun({ state: 'completed', inDoubt: 2, failed: 3 }))).toEqual([
    'doubts',
    'rerun',
    'rerun',
  ]);
});

test('a person who may only read is offered no action', () => {
  expect(linksOf(inState('running'), false)).toEqual([]);
});

test('hostile text in names, words and reasons is shown as text', () => {
  for (const text of hostileTexts) {
    const page = livePart(aLiveRun({ state: 'paused', text, failed: 1 }), viewer).text;
    expect(page).not.toMatch(/<script|<img|onerror="|[\u202a-\u202e\u2066-\u2069]/);
  }
});

test('a rate is shown with the time left, and never as complete before the end', () => {
  const live = aLiveRun({ state: 'running', settled: 9_999, total: 10_000 });
  const page = livePart(
    { ...live, perSecond: { requests: 480.4, recipients: 480.4 }, secondsLeft: 90 },
    viewer,
  ).text;
  expect(page).toContain('9,999 of 10,000 requests (99.9 %)');
  expect(page).toContain('480 requests a second now, 2 min left');
});

test('a page says when costs were booked that are older than two seconds', () => {
  const live = aLiveRun({ state: 'running' });
  const shown = (asOf: string): string =>
    livePart({ ...live, costs: { ...live.costs, asOf: new Date(asOf) } }, viewer).text;
  expect(shown('2026-09-26T12:59:57.999Z')).toContain('>2026-09-27 00:59:57</time></small></h2>');
  expect(shown('2026-09-26T12:59:58Z')).not.toContain('as of');
});

test('payers of an account without rates have no estimate, not one of 0', () => {
  const live = aLiveRun({ state: 'completed' });
  const costs = live.costs && { ...live.costs, currency: null };
  const page = livePart({ ...live, costs }, viewer).text;
  expect(page).toContain('the account has no rate card');
  expect(page.match(/<td[^>]*>–<\/td><td[^>]*>0.80<\/td>/g)).toHaveLength(2);
  expect(page).not.toContain('0.64');
});

test('of states that a run had at the same time, the last is first', () => {
  const { events, ...live } = aLiveRun({ state: 'completed' });
  const at = new Date('2026-09-26T13:00:00Z');
  const states = (['planned', 'running', 'completed'] as const).map((state) => ({ state, reason: null, at }));
  const page = livePart({ ...live, events: { audit: [], notifications: [], states } }, viewer).text;
  const shown = page.slice(page.indexOf('Newest first'));
  expect([...shown.matchAll(/>(planned|running|completed)</g)].map(([, state]) => state)).toEqual([
    'completed',
    'running',
    'planned',
  ]);
});

test('a run without a request says so, and has no tables of nothing', () => {
  const page = livePart(aLiveRun({ state: 'completed', settled: 0, total: 0 }), viewer).text;
  expect(page).toContain('It has no request');
  expect(page).not.toMatch(/0 of 0|by state: 0/);
});

test('what came of a run is first, then the decision, the causes and the chart; the rest is folded', () => {
  const live = aLiveRun({ state: 'paused', failed: 1, inDoubt: 2 });
  const page = livePart({ ...live, former: { runs: 2, accepted: 10, delivered: 9 } }, viewer).text;
  const places = [
    'id="state"',
    'id="outcome"',
    'id="decision"',
    'id="failures"',
    'class="wide"',
    '<details class="folded"',
  ];
  const found = places.map((place) => page.indexOf(place));
  expect(found).toEqual(found.toSorted((one, other) => one - other));
  expect(found).not.toContain(-1);
  expect(page.match(/<h2 id="[a-z]+-title">/g)).toHaveLength(3);
  expect(page.match(/<details class="folded" id="(?:answers|counts|costs|events)">/g)).toHaveLength(4);
  expect(page).toContain('0.0 % <small>of what was accepted; 90.0 % in the 2 runs before');
});

test('green is for what is good: a completed run with unknown recipients has another word and colour', () => {
  const stateOf = (inDoubt: number) =>
    /data-state="([^"]+)"/.exec(livePart(aLiveRun({ state: 'completed', inDoubt }), viewer).text)?.[1];
  expect([stateOf(0), stateOf(1)]).toEqual(['completed', 'completed-with-unknown']);
});

test('requests in doubt are not counted as not accepted', () => {
  const page = livePart(aLiveRun({ state: 'completed', settled: 10, inDoubt: 3, failed: 2 }), viewer).text;
  expect(page).toContain('10 of 10 requests (100.0 %), 2 not accepted, 3 in doubt<');
  const doubtsOnly = livePart(aLiveRun({ state: 'completed', settled: 10, inDoubt: 3 }), viewer).text;
  expect(doubtsOnly).toContain('10 of 10 requests (100.0 %), 3 in doubt<');
});

test('what is to be typed is shown as code', () => {
  const paused = livePart(aLiveRun({ state: 'paused', text: '`volley resume R` sends them' }), viewer).text;
  expect(paused.match(/<code>volley resume R<\/code> sends them/g)).toHaveLength(2);
  const page = livePart(inState('running', [{ kind: 'worker' }]), viewer).text;
  expect(page).toContain(
    'Start one that has its account with <code>volley serve</code> or <code>volley worker</code>',
  );
});

test('one of a thing is one, not many, and nothing is said to be nothing', () => {
  const facts = {
    account: 'main',
    channel: 'sms',
    contactsRead: 1,
    recipients: 1,
    requests: 1,
    smsParts: 1,
    partCauses: null,
    variants: null,
    confirmAboveRecipients: 10_000,
    forecast: null,
    cost: { kind: 'unknown', why: 'no rates' },
    budget: null,
    approval: undefined,
    rejections: [],
    windows: [],
    notes: ['canary: 1 of 9 recipients go first, in request 1.'],
  } as const;
  const { head } = inState('planned');
  const { text } = plannedPart({ run: head, facts, messages: [], from: 1 }, viewer);
  expect(text).toContain('<small>1 part</small>');
  expect(text).toContain('of 1 contact read');
  expect(text).toContain('<li dir="auto">canary: 1 of 9 recipients go first, in request 1.</li>');
  const none = { ...facts, requests: 0, recipients: 0 };
  const empty = plannedPart({ run: head, facts: none, messages: [], from: 1 }, viewer).text;
  expect(empty).toContain('It has no message');
  expect(empty).not.toContain('1 to 0');
});

test('a share is rounded, but never to all before the last, or to none after the first', () => {
  const shares = [
    share(52, 60),
    share(8, 60),
    share(9_999, 10_000),
    share(1, 10_000),
    share(0, 7),
    share(7, 7),
  ];
  expect(shares).toEqual(['86.7 %', '13.3 %', '99.9 %', '< 0.1 %', '0.0 %', '100.0 %']);
  expect(share(0, 0)).toBe('–');
});

test('shares have one decimal each, and a few of many are not called none', () => {
  const live = aLiveRun({ state: 'running' });
  const { counts } = live.progress;
  const requests = { ...counts.requests, total: 10_000, accepted: 9_000, sending: 2, planned: 998 };
  const { text } = countsPart({ ...live, progress: { ...live.progress, counts: { ...counts, requests } } });
  const ofRequests = text.split('Requests by state').at(-1) ?? '';
  expect([...ofRequests.matchAll(/[^>]* %/g)].map(([share]) => share)).toEqual([
    '10.0 %',
    '&lt; 0.1 %',
    '90.0 %',
  ]);
});

test('answers of a short run are counted by the second, of longer ones by minute, hour or day, in local time', () => {
  const begin = Date.parse('2026-09-26T13:59:30Z') / 1000;
  const answer = { verdict: 'accepted', httpStatus: 200, attempts: 2 } as const;
  const of = (...offsets: number[]) =>
    pointsOf(
      offsets.map((offset) => ({ ...answer, second: begin + offset })),
      'Pacific/Auckland',
    );
  expect(of(0, 1)).toMatchObject({
    unit: 'second',
    series: [{ points: [{ at: '2026-09-27T01:59:30', count: 2 }, { count: 2 }] }],
  });
  // Clocks go from 2:00 to 3:00.
  expect(of(0, 30, 200)).toMatchObject({
    unit: 'minute',
    series: [
      { points: [{ at: '2026-09-27T01:59' }, { at: '2026-09-27T03:00' }, { at: '2026-09-27T03:02' }] },
    ],
  });
  expect(of(0, 86_400)).toMatchObject({
    unit: 'hour',
    series: [{ points: [{ at: '2026-09-27T01' }, { at: '2026-09-28T02' }] }],
  });
  expect(of(0, 9 * 86_400)).toMatchObject({
    unit: 'day',
    series: [{ points: [{ at: '2026-09-27' }, { at: '2026-10-06' }] }],
  });
});

test('each result has a chart of its own over the same time, and all results are counted', () => {
  const ended = [
    { second: 1, verdict: 'accepted', httpStatus: 200, attempts: 5 },
    { second: 1, verdict: 'in_doubt', httpStatus: null, attempts: 1 },
    { second: 2, verdict: 'accepted', httpStatus: 200, attempts: 4 },
  ] as const;
  expect(pointsOf(ended, 'UTC')).toMatchObject({
    series: [
      { verdict: 'accepted', points: [{ count: 5 }, { count: 4 }] },
      // Over the same seconds as all others.
      { verdict: 'in_doubt', points: [{ count: 1 }, { count: 0 }] },
    ],
  });
  expect(groupResults(ended)).toEqual([
    { verdict: 'accepted', httpStatus: 200, attempts: 9 },
    { verdict: 'in_doubt', httpStatus: null, attempts: 1 },
  ]);
});

const at = new Date('2026-09-26T13:00:00Z');
const limits = { requestsPerSecond: 50, recipientsPerSecond: null };

/** Each kind of wait, and a part of what is said of it. */
const waits: { readonly [Kind in RunWait['kind']]: readonly [Extract<RunWait, { kind: Kind }>, string] } = {
  approval: [{ kind: 'approval', reason: null }, 'It waits for approval.'],
  start: [{ kind: 'start' }, 'A worker starts it, or you resume it.'],
  resume: [{ kind: 'resume', reason: 'wrong text' }, 'It is paused: wrong text.'],
  promotion: [
    {
      kind: 'promotion',
      reason: { kind: 'canary_stopped', what: 'undelivered', recipients: 52, of: 400, limit: 0.1 },
    },
    'It is paused: of its canary, 52 of 400 recipients are undelivered, more than 10%.',
  ],
  canary: [
    { kind: 'canary', since: at, until: at, reported: 312, recipients: 400, asksPerson: false },
    'observed since 2026-09-27 01:00:00 Pacific/Auckland: 312 of 400 delivery reports are in.',
  ],
  winner: [
    { kind: 'winner', isDecided: false, problem: 'No variant is clearly better.' },
    'No variant is clearly better.',
  ],
  'ledger on hold': [
    { kind: 'ledger on hold', reason: { kind: 'being_restored', words: 'disk lost' } },
    'The ledger is on hold: An operator is handling a restored ledger: disk lost.',
  ],
  service: [
    { kind: 'service', since: at, retryAt: at, words: 'HTTP 503' },
    'The service has refused everything since 2026-09-27 01:00:00 Pacific/Auckland: HTTP 503.',
  ],
  window: [{ kind: 'window', opensAt: at }, 'It opens at 2026-09-27 01:00:00 Pacific/Auckland'],
  'urgent run': [{ kind: 'urgent run', run: '1-a' }, 'A more urgent run of its account goes first: 1-a.'],
  worker: [{ kind: 'worker' }, 'No worker sends it.'],
  rate: [{ kind: 'rate', limits }, '50 requests a second'],
  doubts: [{ kind: 'doubts', requests: 1 }, '1 request is in doubt'],
};

test.each(Object.values(waits))('$0.kind: a wait says what it is for, and what follows', (wait, part) => {
  const { what, next } = waitWords(wait, 'Pacific/Auckland');
  expect(`${what} ${next}`).toContain(part);
});

test('a long text is cut, never within a character', () => {
  expect(shortened('short')).toBe('short');
  expect(shortened(`${'x'.repeat(299)}🎉🎉`)).toBe(`${'x'.repeat(299)}…`);
  expect(shortened('x'.repeat(10_000))).toHaveLength(301);
});

test('the last recipient of a page is where the next page begins', () => {
  expect(parseCursor('12-3')).toEqual({ request: 12, position: 3 });
  expect(parseCursor('12')).toBeUndefined();
  expect(parseCursor('')).toBeUndefined();
});
