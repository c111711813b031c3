import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { storedSchedule } from '../../../src/campaign/schedule.ts';
import { nextStepText } from '../../../src/domain/next-step.ts';
import { InputError } from '../../../src/domain/problems.ts';
import type { TickState } from '../../../src/domain/runs.ts';
import { checkReachability, checkService } from '../../../src/engine/doctor/accounts.ts';
import { askAll, explainInput, formatAge, ok, startDeadline } from '../../../src/engine/doctor/check.ts';
import {
  checkClock,
  checkConnections,
  checkSnapshots,
  checkVersion,
} from '../../../src/engine/doctor/database.ts';
import { describeMissing } from '../../../src/engine/doctor/delivery-reports.ts';
import { checkNode, checkRoom, oldestNode } from '../../../src/engine/doctor/installation.ts';
import { checkQueue } from '../../../src/engine/doctor/ledger.ts';
import { checkSchedules, checkTicks } from '../../../src/engine/doctor/schedules.ts';
import {
  checkBreakers,
  checkDoubts,
  checkInbox,
  checkNotifications,
  checkWaitingRuns,
  checkWorkers,
} from '../../../src/engine/doctor/work.ts';

const now = new Date('2026-11-23T12:00:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

test('only a sandbox of this machine may be down; a proxy to the service may not', () => {
  const refused = { kind: 'unreachable', why: 'connection refused' } as const;
  const environment = { VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9000' };
  const stateOf = (url: string) => checkService(new URL(url), refused, environment, now).state;
  expect(stateOf('http://127.0.0.1:8025')).toBe('not checked');
  expect(stateOf('http://127.0.0.1:9000/path')).toBe('not checked');
  expect(stateOf('http://127.0.0.1:8080')).toBe('problem');
  expect(stateOf('https://service.example')).toBe('problem');
});

describe('the runner of checks', () => {
  test('a check that fails or does not end leaves the others their answers', async () => {
    const probes = [
      { name: 'fails', ask: () => Promise.reject(new Error('a bug')) },
      { name: 'throws', ask: () => JSON.parse('{') },
      { name: 'hangs', ask: () => new Promise<never>(() => undefined) },
      { name: 'answers', ask: () => ok('Fine.') },
    ];
    expect(await askAll(probes, startDeadline(0.05), undefined)).toEqual([
      { name: 'fails', state: 'not checked', found: 'The check failed: a bug.', nextStep: null },
      {
        name: 'throws',
        state: 'not checked',
        found: expect.stringMatching(/^The check failed: /),
        nextStep: null,
      },
      { name: 'hangs', state: 'not checked', found: 'No answer within 0.05 seconds.', nextStep: null },
      { name: 'answers', state: 'ok', found: 'Fine.', nextStep: null },
    ]);
  });

  test('a refused right names the page with the rights', async () => {
    const refused = Object.assign(new Error('permission denied for table runs'), { code: '42501' });
    const [check] = await askAll(
      [{ name: 'runs', ask: () => Promise.reject(refused) }],
      startDeadline(1),
      undefined,
    );
    expect(check).toMatchObject({
      state: 'problem',
      found: 'The role of DATABASE_URL lacks a right (permission denied for table runs).',
      nextStep: expect.stringContaining('docs/how-to/deployment.md'),
    });
  });

  test('of an input error, the first sentence is found and the others are the next step', () => {
    const problems = [
      { where: 'a.yaml:1:2', what: 'The key is wrong. Write another one. Then go on.' },
      { where: 'a.yaml:3:4', what: 'Something else.' },
    ];
    expect(explainInput(new InputError(problems), 'Nothing.')).toEqual({
      state: 'problem',
      found: 'a.yaml:1:2: The key is wrong. 1 more problem.',
      nextStep: 'Write another one. Then go on.',
    });
    expect(explainInput(new InputError(problems.slice(1)), 'Correct it.').nextStep).toBe('Correct it.');
  });

  test.each([
    [0, '0 seconds'],
    [61_000, '1 minute'],
    [7_200_000, '2 hours'],
    [180_000_000, '2 days'],
  ])('an age of %d ms is %s', (milliseconds, words) => {
    expect(formatAge(milliseconds)).toBe(words);
  });
});

test('the oldest Node is the one of package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toContain(`>=${oldestNode.join('.')}`);
});

test.each([
  ['v20.20.2', 'problem'],
  ['v22.18.0', 'problem'],
  ['v22.19.0', 'ok'],
  ['v24.1.0', 'ok'],
])('Node %s is %s', (version, state) => {
  expect(checkNode(version).state).toBe(state);
});

test.each([
  [100e6, 'problem'],
  [1.5e9, 'warning'],
  [40e9, 'ok'],
])('%d bytes of free disk are %s', (bytes, state) => {
  expect(checkRoom(bytes, '/data').state).toBe(state);
});

test('Postgres 14 is too old, and 15 is not', () => {
  expect(checkVersion({ version: '14.9', versionNumber: 140_009 }).state).toBe('problem');
  expect(checkVersion({ version: '15.0', versionNumber: 150_000 }).state).toBe('ok');
});

test.each([
  [43, 'ok'],
  [42, 'problem'],
  [null, 'problem'],
])('a queue of version %s is %s for a pg-boss that needs 43', (installed, state) => {
  expect(checkQueue({ installed, needed: 43 }).state).toBe(state);
});

test('fewer free connections than a process opens are a warning', () => {
  expect(checkConnections({ connections: 80, maxConnections: 100 }).state).toBe('ok');
  expect(checkConnections({ connections: 81, maxConnections: 100 }).state).toBe('warning');
});

test('a transaction that is open for ten minutes is a warning, and one of a hidden age after 100,000 others', () => {
  const backup = {
    pid: 7,
    application: 'pg_dump',
    role: 'backup',
    activity: 'active',
    since: ago(3),
    transactions: 9,
  };
  const hidden = { ...backup, pid: 8, application: '', activity: null, since: null };
  const young = { ...backup, since: new Date(now.getTime() - 599_000) };
  expect(checkSnapshots([young, hidden], now)).toEqual(ok('No session holds an old snapshot.'));
  expect(checkSnapshots([backup, { ...backup, pid: 9 }, young], now).found).toMatch(
    /^Session 7 of Postgres \(pg_dump, role backup, active\) has a transaction open since 2026-11-23T09:00:00\.000Z, for 3 hours\. .+ So has 1 other session\.$/,
  );
  expect(checkSnapshots([{ ...hidden, transactions: 100_000 }], now).found).toMatch(
    /^Session 8 of Postgres \(without a name, role backup\) has a transaction open for 100,000 transactions\. /,
  );
});

test.each([
  [1_900, 0, 'ok'],
  [-2_100, 0, 'warning'],
  [2_100, 200, 'ok'],
  [61_000, 100, 'problem'],
])('a clock that is %d ms ahead, give or take %d, is %s', (ahead, uncertainty, state) => {
  expect(checkClock({ ahead, uncertainty }).state).toBe(state);
});

test.each([
  [15, 'ok'],
  [13, 'warning'],
])('a certificate that is valid for %d days is %s', (days, state) => {
  const certificateUntil = new Date(now.getTime() + days * 86_400_000);
  expect(checkReachability({ kind: 'reachable', certificateUntil }, now).state).toBe(state);
});

describe('workers and runs', () => {
  const run = { run: '261123-abcde' };

  test.each([
    [{ workers: 0, heldSlices: 0, abandonedSlices: 0 }, [], [], 'ok'],
    [{ workers: 0, heldSlices: 0, abandonedSlices: 0 }, [run.run], [run.run], 'problem'],
    [{ workers: 2, heldSlices: 3, abandonedSlices: 0 }, [run.run], [], 'ok'],
    [{ workers: 2, heldSlices: 0, abandonedSlices: 0 }, [run.run], [run.run], 'warning'],
    [{ workers: 1, heldSlices: 3, abandonedSlices: 1 }, [run.run], [], 'warning'],
  ])(
    '%j with unfinished runs %j, of which no worker sends %j, is %s',
    (workers, unfinished, unattended, state) => {
      expect(checkWorkers(workers, unfinished, unattended).state).toBe(state);
    },
  );

  test('a run that is not approved yet names the command that approves it', () => {
    const waiting = { ...run, state: 'planned', stateReason: null, createdAt: ago(3) } as const;
    const { nextStep, ...finding } = checkWaitingRuns([waiting, waiting], now);
    expect(finding).toEqual({
      state: 'warning',
      found:
        'Run 261123-abcde, planned 3 hours ago, waits for a person (not approved yet). 1 other run does too.',
    });
    expect(nextStepText(nextStep ?? '')).toBe(
      'See `volley status 261123-abcde`, then `volley approve 261123-abcde`, or `volley cancel 261123-abcde`.',
    );
  });

  test('recipients in doubt are a warning, and a service that refuses everything is a problem', () => {
    expect(checkDoubts(0, []).state).toBe('ok');
    expect(checkDoubts(1, [])).toMatchObject({
      state: 'warning',
      found: '1 recipient is in requests that the service may or may not have accepted.',
    });
    expect(checkBreakers({ openBreakers: [{ account: 'main', seconds: 90 }] })).toMatchObject({
      state: 'problem',
      found: 'The service refuses every request: account main for 1 minute.',
    });
  });

  test.each([
    [{ lag: 30, due: 9, later: 0, failed: 0 }, 'ok'],
    [{ lag: 61, due: 9, later: 0, failed: 0 }, 'problem'],
    [{ lag: 0, due: 0, later: 5, failed: 0 }, 'ok'],
    [{ lag: 0, due: 0, later: 0, failed: 2 }, 'warning'],
  ])('an inbox of %j is %s', (inbox, state) => {
    expect(checkInbox({ inbox, undecided: { unreadable: 0, unmatched: 0 } }).state).toBe(state);
  });

  test('calls that were answered 200 and could not be read are a warning, and those that match no request are counted', () => {
    const inbox = { lag: 0, due: 0, later: 0, failed: 0 };
    expect(checkInbox({ inbox, undecided: { unreadable: 1, unmatched: 0 } })).toMatchObject({
      state: 'warning',
      found: '1 call of the last 30 days could not be read as a delivery report, and was answered 200.',
    });
    expect(checkInbox({ inbox, undecided: { unreadable: 0, unmatched: 1_200 } })).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('except 1,200 of the last 30 days that match no request'),
    });
  });

  test('an overdue notification is a warning, and one that was given up is not', () => {
    expect(checkNotifications({ notifications: { overdue: 1, givenUp: 0 } }).state).toBe('warning');
    expect(checkNotifications({ notifications: { overdue: 0, givenUp: 3 } }).state).toBe('ok');
  });
});

describe('missing delivery reports', () => {
  const missing = { account: 'main', missing: 2, oldest: ago(50) };

  test('they are a warning while others arrive, and a problem if none does', () => {
    expect(describeMissing([], undefined, now).state).toBe('ok');
    expect(describeMissing([{ ...missing, lastReport: ago(1) }], undefined, now).state).toBe('warning');
    expect(describeMissing([{ ...missing, lastReport: ago(73) }], new Set(['main']), now)).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('None has arrived for 3 days.'),
    });
    expect(describeMissing([{ ...missing, lastReport: null }], new Set(), now)).toEqual(
      ok(
        'No delivery report of the last 30 days is missing for a day or longer. Account main receives none: it has no webhook token and no status look-up.',
      ),
    );
  });
});

describe('schedules', () => {
  const tick = (state: TickState, hours: number) => {
    return { schedule: 'nightly.yaml', dueAt: ago(hours), state, run: null, reason: null };
  };
  const times = storedSchedule.parse({ cron: '30 2 * * *', timeZone: 'UTC', catchUp: 0, overlap: 'skip' });
  const nothing = { schedules: [], unreadable: [] };
  const recorded = (recordedUntil: Date, active = true) => [
    { schedule: 'nightly.yaml', campaign: 'nightly', times, active, recordedUntil },
  ];

  test('a schedule is kept, or not kept since the last time passed, or never seen', () => {
    expect(checkSchedules([], nothing, now).found).toBe('No campaign has a schedule.');
    expect(checkSchedules(recorded(ago(0.01)), nothing, now)).toEqual(
      ok('1 schedule kept by a running process; the next run is in 14 hours.'),
    );
    expect(checkSchedules(recorded(ago(1)), nothing, now)).toMatchObject({
      state: 'warning',
      found: 'No process starts 1 schedule (nightly.yaml), for 1 hour. The next time is in 14 hours.',
    });
    expect(checkSchedules(recorded(ago(50)), nothing, now)).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('for 2 days; 2 times passed without a run.'),
    });
    expect(checkSchedules(recorded(ago(50), false), nothing, now).state).toBe('ok');
    const written = {
      schedule: 'new.yaml',
      campaign: 'new',
      times,
      notify: [],
      fileSha256: Buffer.alloc(32),
      ownerId: 0,
    };
    expect(checkSchedules([], { schedules: [written], unreadable: [] }, now)).toMatchObject({
      state: 'warning',
      found: 'No process starts 1 schedule (new.yaml). The next time is in 14 hours.',
    });
  });

  test('a campaign with a schedule that cannot be read is a problem', () => {
    const unreadable = [{ schedule: 'bad.yaml', what: 'bad.yaml:3: no.' }];
    expect(checkSchedules([], { schedules: [], unreadable }, now).state).toBe('problem');
  });

  test.each([
    ['due', 0.001, 'ok'],
    ['due', 1, 'problem'],
    ['missed', 30, 'warning'],
    ['failed', 200, 'ok'],
    ['started', 30, 'ok'],
  ] as const)('a tick that is %s for %d hours is %s', (state, hours, expected) => {
    expect(checkTicks([tick(state, hours)], now).state).toBe(expected);
  });

  test('a tick that was missed asks for a person until its schedule makes a run again', () => {
    const missed = tick('missed', 30);
    expect(checkTicks([tick('started', 6), missed], now).state).toBe('ok');
    expect(checkTicks([{ ...tick('started', 6), schedule: 'other.yaml' }, missed], now).state).toBe(
      'warning',
    );
  });
});
