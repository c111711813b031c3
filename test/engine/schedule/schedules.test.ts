import { readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { startByKey } from '../../../src/engine/access/start-by-key.ts';
import { createToken } from '../../../src/engine/access/tokens.ts';
import type { EngineContext } from '../../../src/engine/context.ts';
import { approveRun } from '../../../src/engine/plan/approve-run.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { recordSchedules } from '../../../src/engine/schedule/record-schedules.ts';
import { readScheduleFolder } from '../../../src/engine/schedule/schedule-folder.ts';
import {
  beginPlannedRuns,
  type CampaignSource,
  startDueTicks,
  type TickResult,
} from '../../../src/engine/schedule/start-ticks.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { listRuns } from '../../../src/ledger/runs/find.ts';
import { listTicks } from '../../../src/ledger/schedules/schedules.ts';
import { anAccount } from '../../support/account.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  noRepeatCampaignYaml,
  settingsIn,
  smsCampaignYaml,
  type Workspace,
} from '../../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
let source: CampaignSource;
let now: Date;
beforeEach(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaigns/contacts.csv': contactsCsv(2),
  });
  source = {
    folder: 'campaigns',
    settings: settingsIn(workspace),
    accountNamed: async () => anAccount({ name: 'sandbox' }),
  };
  await emptyLedger(opened.ledger.pool);
  now = new Date('2026-11-20T00:10:00Z');
  return () => workspace[Symbol.asyncDispose]();
});

const writeCampaign = (schedule: string, name = 'nightly.yaml', campaign = name): Promise<void> =>
  workspace.write(
    `campaigns/${name}`,
    `${noRepeatCampaignYaml}schedule: { timeZone: UTC, ${schedule} }\n`.replace(
      /^campaign: .*$/m,
      `campaign: ${campaign.replace('.yaml', '')}`,
    ),
  );

/** One check, as a worker does it. */
async function checkSchedules(
  context: EngineContext = { ...opened.context, now: () => now },
): Promise<TickResult[]> {
  const ends: TickResult[] = [];
  await recordSchedules(context, await readScheduleFolder(`${workspace.folder}/campaigns`));
  await startDueTicks(context, source, (end) => ends.push(end));
  await beginPlannedRuns(context, source);
  return ends;
}

const advance = (minutes: number): void => {
  now = new Date(now.getTime() + minutes * 60_000);
};

/** Completes all runs. */
const complete = () => opened.ledger.pool.query(`UPDATE runs SET state = 'completed'`);

const describeTicks = async (): Promise<string[]> =>
  (await listTicks(opened.ledger.pool, 100))
    .toReversed()
    .map(({ schedule, dueAt, state }) => `${schedule} ${dueAt.toISOString().slice(11, 16)} ${state}`);

test('a campaign runs once at its time and is sent', async () => {
  await writeCampaign('cron: "0 * * * *"');
  expect(await checkSchedules()).toEqual([]);
  advance(49);
  expect(await checkSchedules()).toEqual([]);
  advance(1);
  const [end] = await checkSchedules();
  expect(end).toMatchObject({
    kind: 'started',
    schedule: 'nightly.yaml',
    dueAt: new Date('2026-11-20T01:00:00Z'),
  });
  advance(1);
  expect(await checkSchedules()).toEqual([]);
  const { rows } = await opened.ledger.pool.query(
    'SELECT state, (SELECT count(*)::integer FROM request_states) AS requests FROM runs',
  );
  expect(rows).toEqual([{ state: 'running', requests: 2 }]);
});

test("a tick may repeat a run, but an operator's run may not repeat that of the tick", async () => {
  await writeCampaign('cron: "0 * * * *"');
  const path = 'campaigns/nightly.yaml';
  const startByHand = async () => {
    const prepared = await prepareCampaign(path, source.settings, { keeps: 'files' });
    return planRun({ ...opened.context, now: () => now }, prepared);
  };
  await checkSchedules();
  await startByHand();
  advance(50);
  const [tick] = await checkSchedules();
  expect(tick).toMatchObject({ kind: 'started' });
  expect(await problemsRejected(startByHand)).toEqual([
    expect.stringContaining(`Run ${tick?.kind === 'started' && tick.run} has the same message`),
  ]);
});

test('every tick has one run, with any number of workers and lost connections', async () => {
  await writeCampaign('cron: "0 * * * *", overlap: queue, catchUp: 7d');
  await checkSchedules();
  const clock = { ...opened.context, now: () => now };
  const looks = 12;
  for (let hour = 0; hour < looks; hour++) {
    advance(60);
    const workers = Array.from({ length: 4 }, () => checkSchedules(clock).catch(() => []));
    await sleep((hour * 7) % 60);
    if (hour % 2 === 0) await opened.breakConnections();
    await Promise.all(workers);
    await complete();
  }
  for (let round = 0; round < looks; round++) {
    await checkSchedules(clock);
    await complete();
  }
  expect(await describeTicks()).toEqual(
    Array.from(
      { length: looks },
      (_, hour) => `nightly.yaml ${String(hour + 1).padStart(2, '0')}:00 started`,
    ),
  );
  const { rows } = await opened.ledger.pool.query('SELECT count(*)::integer AS runs FROM runs');
  expect(rows).toEqual([{ runs: looks }]);
});

describe('a missed tick', () => {
  test('a recent missed tick is caught up, and an older one is listed as missed', async () => {
    await writeCampaign('cron: "0 * * * *", catchUp: 90m, overlap: queue');
    await checkSchedules();
    advance(190);
    expect(await checkSchedules()).toMatchObject([
      { kind: 'started', dueAt: new Date('2026-11-20T02:00:00Z') },
    ]);
    await complete();
    expect(await checkSchedules()).toMatchObject([
      { kind: 'started', dueAt: new Date('2026-11-20T03:00:00Z') },
    ]);
    expect(await describeTicks()).toEqual([
      'nightly.yaml 01:00 missed',
      'nightly.yaml 02:00 started',
      'nightly.yaml 03:00 started',
    ]);
  });

  test('without catchUp a tick is missed after a minute', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    advance(52);
    expect(await checkSchedules()).toEqual([]);
    expect(await describeTicks()).toEqual(['nightly.yaml 01:00 missed']);
  });
});

describe('a tick during the previous run', () => {
  test('overlap: skip skips the tick', async () => {
    await writeCampaign('cron: "*/10 * * * *"');
    await checkSchedules();
    advance(10);
    const [first] = await checkSchedules();
    advance(10);
    const [second] = await checkSchedules();
    const run = first?.kind === 'started' ? first.run : '';
    expect(second).toMatchObject({ kind: 'skipped', reason: { kind: 'run_not_over', run } });
  });

  test('overlap: queue starts the tick after the run', async () => {
    await writeCampaign('cron: "*/10 * * * *", overlap: queue');
    await checkSchedules();
    advance(10);
    await checkSchedules();
    advance(10);
    expect(await checkSchedules()).toEqual([]);
    await complete();
    advance(30);
    expect(await checkSchedules()).toMatchObject([
      { kind: 'started', dueAt: new Date('2026-11-20T00:30:00Z') },
    ]);
  });
});

describe('a changed clock', () => {
  test('a clock that is set back starts nothing again', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    advance(50);
    expect(await checkSchedules()).toHaveLength(1);
    await complete();
    advance(-60);
    expect(await checkSchedules()).toEqual([]);
    advance(60);
    expect(await checkSchedules()).toEqual([]);
    expect(await describeTicks()).toEqual(['nightly.yaml 01:00 started']);
  });

  test('a clock that is set forward misses the ticks in between', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    advance(3 * 60 + 50);
    expect(await checkSchedules()).toHaveLength(1);
    expect(await describeTicks()).toEqual([
      'nightly.yaml 01:00 missed',
      'nightly.yaml 02:00 missed',
      'nightly.yaml 03:00 missed',
      'nightly.yaml 04:00 started',
    ]);
  });
});

describe('a changed campaign', () => {
  test('new times apply from then on, and earlier ticks are kept', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    advance(50);
    await writeCampaign('cron: "30 * * * *"');
    expect(await checkSchedules()).toHaveLength(1);
    await complete();
    advance(30);
    await checkSchedules();
    expect(await describeTicks()).toEqual(['nightly.yaml 01:00 started', 'nightly.yaml 01:30 started']);
  });

  test('an unreadable campaign keeps its times, and its ticks fail with a reason', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    await workspace.write('campaigns/nightly.yaml', 'schedule: { cron: never }\n');
    advance(50);
    expect(await checkSchedules()).toMatchObject([
      { kind: 'failed', reason: expect.stringContaining('nightly.yaml:1') },
    ]);
  });

  test('a copy of a scheduled file sends nothing, and the file that was there keeps its times', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    await writeCampaign('cron: "0 * * * *"', 'nightly copy.yaml', 'nightly');
    const { unreadable } = await readScheduleFolder(`${workspace.folder}/campaigns`);
    expect(unreadable.map(({ what }) => what)).toEqual([
      expect.stringMatching(
        /^nightly copy\.yaml:\d+:\d+: The campaign "\w+" has a schedule in nightly\.yaml too/,
      ),
      expect.stringMatching(/^nightly\.yaml:\d+:\d+: .* in nightly copy\.yaml too/),
    ]);
    advance(50);
    expect(await checkSchedules()).toMatchObject([{ kind: 'started', schedule: 'nightly.yaml' }]);
  });

  test('a campaign removed from the folder no longer runs', async () => {
    await writeCampaign('cron: "0 * * * *"');
    await checkSchedules();
    await workspace.write('campaigns/nightly.yaml', smsCampaignYaml);
    await checkSchedules();
    advance(50);
    expect(await checkSchedules()).toEqual([]);
    expect(await describeTicks()).toEqual([]);
  });
});

test('a campaign that cannot be sent does not block another one', async () => {
  await writeCampaign('cron: "0 * * * *"', 'a.yaml');
  await writeCampaign('cron: "0 * * * *"', 'b.yaml');
  await checkSchedules();
  advance(50);
  await workspace.write('campaigns/contacts.csv', 'mobile,name\n0412000001,Ann\n');
  expect(await checkSchedules()).toMatchObject([
    { kind: 'failed', schedule: 'a.yaml' },
    { kind: 'failed', schedule: 'b.yaml' },
  ]);
});

test('a run whose worker ended before its start is started by another worker', async () => {
  await writeCampaign('cron: "0 * * * *"');
  await checkSchedules();
  advance(50);
  const context = { ...opened.context, now: () => now };
  await recordSchedules(context, await readScheduleFolder(`${workspace.folder}/campaigns`));
  await startDueTicks(context, source, () => undefined);
  const state = async () => (await opened.ledger.pool.query('SELECT state FROM runs')).rows;
  expect(await state()).toEqual([{ state: 'planned' }]);
  await checkSchedules();
  expect(await state()).toEqual([{ state: 'running' }]);
});

describe('contact files by a pattern', () => {
  const pattern = smsCampaignYaml.replace('contacts.csv', '"inbox/pay-*.csv"');
  const write = (contacts: string): Promise<void> =>
    workspace.write(
      'campaigns/nightly.yaml',
      `${pattern.replace('country: AU', `country: AU\n  ${contacts}`)}schedule: { cron: "0 * * * *", timeZone: UTC, catchUp: 30m }\n`,
    );
  const inbox = (name: string, numbers: number): Promise<void> =>
    workspace.write(`campaigns/inbox/${name}`, contactsCsv(numbers));
  const tick = async (): Promise<TickResult[]> => {
    advance(60);
    const ends = await checkSchedules();
    await complete();
    return ends;
  };
  const recipients = async (): Promise<number[]> => {
    const { rows } = await opened.ledger.pool.query(
      'SELECT (SELECT count(*)::integer FROM request_states q WHERE q.run_id = r.run_id) AS requests FROM runs r ORDER BY created_at',
    );
    return rows.map(({ requests }) => requests);
  };

  test('each file content runs once, under any name', async () => {
    await write('take: all');
    await checkSchedules();
    await inbox('pay-1.csv', 2);
    expect(await tick()).toMatchObject([{ kind: 'started' }]);
    await inbox('pay-2.csv', 2);
    expect(await tick()).toMatchObject([
      { kind: 'skipped', reason: 'All 2 files that match have been run before.' },
    ]);
    await inbox('pay-3.csv', 3);
    expect(await tick()).toMatchObject([{ kind: 'started' }]);
    expect(await recipients()).toEqual([2, 3]);
  });

  test('a tick without files is skipped', async () => {
    await write('take: all');
    await checkSchedules();
    expect(await tick()).toMatchObject([{ kind: 'skipped', reason: 'No file matches inbox/pay-*.csv.' }]);
  });

  test('take selects the newest new file or all new files', async () => {
    await write('take: newest');
    await checkSchedules();
    await inbox('pay-2.csv', 2);
    await sleep(20);
    await inbox('pay-1.csv', 3);
    await tick();
    expect(await recipients()).toEqual([3]);
    await write('take: all');
    await inbox('pay-4.csv', 4);
    await tick();
    // The numbers of the smaller file are in the larger one.
    expect(await recipients()).toEqual([3, 4]);
  });

  test("files that have run are moved with the run's id and replace no other file", async () => {
    await write('moveTo: done');
    await checkSchedules();
    await inbox('pay-1.csv', 2);
    const [first] = await tick();
    await inbox('pay-1.csv', 3);
    const [second] = await tick();
    const runs = [first, second].map((end) => (end?.kind === 'started' ? end.run : ''));
    expect(await readdir(`${workspace.folder}/campaigns/inbox`)).toEqual([]);
    expect((await readdir(`${workspace.folder}/campaigns/done`)).toSorted()).toEqual(
      runs.map((run) => `pay-1.${run}.csv`).toSorted(),
    );
  });

  test('brackets in file names and patterns have no special meaning', async () => {
    await write('take: all');
    const yaml = await workspace.read('campaigns/nightly.yaml');
    const named = (file: string) =>
      workspace.write('campaigns/nightly.yaml', yaml.replace('inbox/pay-*.csv', file));
    await inbox('pay (1) [new].csv', 2);
    await named('inbox/pay (1) [new].csv');
    await checkSchedules();
    expect(await tick()).toMatchObject([{ kind: 'started' }]);
    await inbox('pay (2) [new].csv', 3);
    await named('inbox/pay (?) [new].csv');
    expect(await tick()).toMatchObject([{ kind: 'started' }]);
    expect(await recipients()).toEqual([2, 3]);
  });
});

describe('a run of a schedule that waits for approval', () => {
  const write = (text = ''): Promise<void> =>
    workspace.write(
      'campaigns/watched.yaml',
      `${noRepeatCampaignYaml}approval: required\nschedule: { timeZone: UTC, cron: "0 * * * *" }\n${text}`,
    );
  const as = (name: string): EngineContext => ({
    ...opened.context,
    now: () => now,
    actor: { name, via: 'cli', token: null },
  });
  const owner = `${userInfo().username}@desk`;
  /** Ann puts it in, and `serve` of cron plans it. */
  const waiting = async (): Promise<string> => {
    await recordSchedules(as('ann@desk'), await readScheduleFolder(`${workspace.folder}/campaigns`));
    advance(50);
    const [end] = await checkSchedules(as('cron@desk'));
    if (end?.kind !== 'started') throw new Error(`the tick is ${end?.kind}`);
    return end.run;
  };

  test.each([owner, 'ann@other'])(
    'is not approved by %s, who owns the file or put in the schedule',
    async (approver) => {
      await write();
      const run = await waiting();
      expect(await problemsRejected(() => approveRun(as(approver), run))).toEqual([
        expect.stringContaining(`and you are ${approver}. Another person must approve it`),
      ]);
      expect(await approveRun(as('cron@desk'), run)).toMatchObject({ approvedBy: 'cron@desk' });
    },
  );

  test('is not approved by the person who changed the file last', async () => {
    await write();
    await checkSchedules(as('bob@desk'));
    await write('# changed\n');
    const run = await waiting();
    expect(await problemsRejected(() => approveRun(as('ann@desk'), run))).toEqual([
      expect.stringContaining('Its schedule was put in by ann@desk'),
    ]);
    expect(await approveRun(as('bob@desk'), run)).toMatchObject({ approvedBy: 'bob@desk' });
  });

  test('is not approved with a token that the person who put in the schedule made', async () => {
    await write();
    const run = await waiting();
    const token = {
      name: 'of eve, by ann',
      scope: 'approve',
      owner: 'eve',
      accounts: null,
      expiresAt: null,
    } as const;
    await createToken(as('ann@desk'), token);
    const eve: EngineContext = { ...as('eve'), actor: { name: 'eve', via: 'dashboard', token: token.name } };
    expect(await problemsRejected(() => approveRun(eve, run))).toEqual([
      expect.stringContaining('Its schedule was put in by ann@desk, who also made the token of eve'),
    ]);
  });
});

test.each(['api', 'dashboard'] as const)(
  'a run that was planned via the %s is started in the name of who planned it, if its process ended after the approval',
  async (via) => {
    await workspace.write('campaigns/test.yaml', `${smsCampaignYaml}approval: required\n`);
    const token = `of ann, ${via}`;
    await createToken(opened.context, {
      name: token,
      scope: 'run',
      owner: 'ann',
      accounts: null,
      expiresAt: null,
    });
    const [ann, bea] = ['ann', 'bea'].map((name) => ({ ...opened.context, actor: { name, via, token } }));
    if (!ann || !bea) throw new Error('two people');
    await startByKey(
      ann,
      source,
      { campaign: 'test.yaml', accounts: null, token, key: 'one' },
      () => undefined,
    );
    const [waiting] = await listRuns(opened.ledger.knex, 1);
    await approveRun(bea, waiting?.run ?? '');
    expect(await beginPlannedRuns(opened.context, source)).toEqual([waiting?.run]);
    const [newest] = await listAudit(opened.ledger.pool, { run: waiting?.run ?? '' }, 10);
    expect(newest).toMatchObject({ action: 'run started', who: 'ann', how: via, token });
  },
);
