import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { openLedgerIn } from '../support/ledger.ts';
import { makeReplicatedOrigin, type ReplicatedPostgres } from '../support/replicated-postgres.ts';
import { runStatement } from '../support/statement.ts';
import { volleyInProcess } from '../support/volley.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const rounds = Number(process.env['VOLLEY_TORTURE_REPORTS'] ?? 120);
const random = (what: string, round: number, below: number) =>
  Math.floor(seededRandom(seed, what, round) * below);

const opened = new AsyncDisposableStack();
let postgres: ReplicatedPostgres;
let scene: DispatchScene;
let run: string;
beforeAll(async () => {
  const origin = opened.use(await makeReplicatedOrigin());
  postgres = opened.use(await origin.startPair('asynchronous'));
  const database = { connection: { connectionString: postgres.url }, url: postgres.url };
  const ledger = openLedgerIn({ ...database, drop: async () => undefined });
  scene = opened.use(await openDispatchScene({ requests: 4_000, concurrency: 8, ledger }));
  const { code, stderr } = await scene.runHere(['run', 'campaign.yaml']);
  expect(code, stderr).toBe(0);
  run = String((await onPrimary('SELECT run_id FROM runs'))[0]?.['run_id']);
});
afterAll(() => opened.disposeAsync());

const onPrimary = (sql: string) => runStatement(postgres.url, sql);
/** The standby may be away, and cancels statements of the test too. */
const onStandby = (sql: string) => runStatement(postgres.standbyUrl, sql).catch(() => []);

type PrintedSource =
  | { readonly from: 'replica'; readonly secondsBehind: number }
  | { readonly from: 'primary'; readonly because: string };

async function report(words: readonly string[], env: Readonly<Record<string, string>>) {
  const surroundings = { cwd: scene.workspace.folder, env: { ...scene.environment, ...env } };
  const { code, stdout, stderr } = await volleyInProcess([...words, '--json'], surroundings);
  expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
  const { read, asOf, ...figures } = JSON.parse(stdout);
  return { read: read as PrintedSource | undefined, asOf: new Date(asOf), figures };
}

/** A change of the primary, and when it was begun and acknowledged. */
type Change = { readonly number: number; readonly begun: Date; readonly done: Date };

/** Changes the name of the campaign again and again, and removes the old rows: what a report reads may vanish. */
function startChanges() {
  const stop = new AbortController();
  const changes: Change[] = [{ number: 0, begun: new Date(), done: new Date() }];
  const changing = (async () => {
    for (let number = 1; !stop.signal.aborted; number++) {
      const begun = new Date();
      await onPrimary(`UPDATE runs SET campaign = 'night ${number}'`);
      changes.push({ number, begun, done: new Date() });
      if (number % 10 === 0) await onPrimary('VACUUM runs');
      await sleep(100);
    }
  })();
  /** The last change that was acknowledged before a time. */
  const before = (time: Date) => changes.findLast(({ done }) => done < time)?.number ?? 0;
  return {
    before,
    end: async () => {
      stop.abort();
      await changing;
    },
  };
}

type Disturbance = 'none' | 'paused' | 'locked' | 'killed';
const disturbances: readonly Disturbance[] = ['none', 'none', 'paused', 'locked', 'killed'];

/** Disturbs the standby while the report is read. */
async function disturb(kind: Disturbance, round: number): Promise<void> {
  if (kind === 'none') return;
  await sleep(random('after', round, kind === 'paused' ? 1 : 400));
  switch (kind) {
    case 'paused':
      await onStandby('SELECT pg_wal_replay_pause()');
      await sleep(2_000 + random('paused', round, 3_000));
      await onStandby('SELECT pg_wal_replay_resume()');
      return;
    case 'locked':
      await onPrimary('BEGIN; LOCK TABLE contents, run_states IN ACCESS EXCLUSIVE MODE; COMMIT');
      return;
    case 'killed':
      await postgres.killStandby();
      await sleep(random('killed', round, 500));
      await postgres.startStandby();
  }
}

const withReplica = { VOLLEY_READ_REPLICA: 'prefer 10s' };

test('each report of a disturbed standby equals the one of the primary, or says how old it is', async () => {
  const env = { ...withReplica, DATABASE_READ_URL: postgres.standbyUrl };
  const contacts = ['report', 'contacts', run];
  const billing = ['billing', 'report', '--by', 'ChargeCode'];
  const expected = { contacts: await report(contacts, {}), billing: await report(billing, {}) };
  const changes = startChanges();
  const sources = new Map<string, number>();
  try {
    for (let round = 0; round < rounds; round++) {
      const kind = disturbances[random('kind', round, disturbances.length)] ?? 'none';
      // A disturbance can begin in one report and end in another.
      const disturbed = disturb(kind, round);
      const begun = new Date();
      const [whole, bill, campaigns] = [
        await report(contacts, env),
        await report(billing, env),
        await report(['report', 'campaigns'], env),
      ];
      await disturbed;
      expect(whole.figures, `${kind}, round ${round}`).toEqual(expected.contacts.figures);
      expect(bill.figures, `${kind}, round ${round}`).toEqual(expected.billing.figures);
      const number = Number(String(campaigns.figures.rows[0].campaign).replace('night ', ''));
      const { read } = campaigns;
      const isOlder = read?.from === 'replica' && read.secondsBehind > 0;
      if (isOlder) expect(read.secondsBehind).toBeLessThanOrEqual(10);
      // `asOf` is in milliseconds, and the commit in microseconds.
      const trueAt = isOlder ? campaigns.asOf : begun;
      expect(number, `${kind}, round ${round}: ${JSON.stringify(read)}`).toBeGreaterThanOrEqual(
        changes.before(trueAt),
      );
      for (const each of [whole, bill, campaigns]) {
        const source = describeSource(each.read);
        sources.set(source, (sources.get(source) ?? 0) + 1);
      }
    }
  } finally {
    await changes.end();
  }
  const lines = [...sources].map(([source, times]) => `  ${source.padEnd(60)} ${times}`);
  console.log([`seed ${seed}: ${rounds * 3} reports`, ...lines].join('\n'));
  for (const source of ['replica, current', 'replica, older', 'primary'])
    expect(
      [...sources.keys()].some((each) => each.startsWith(source)),
      source,
    ).toBe(true);
});

test('the reports after a promotion are those of the primary, and name it', async () => {
  const env = { ...withReplica, DATABASE_READ_URL: postgres.standbyUrl };
  const reading = Promise.all([
    report(['report', 'contacts', run], env),
    report(['report', 'contacts', run], env),
  ]);
  await postgres.promote();
  const expected = await report(['report', 'contacts', run], {});
  for (const { figures } of await reading) expect(figures).toEqual(expected.figures);
  await runStatement(postgres.standbyUrl, `UPDATE runs SET campaign = 'of the other server'`);
  const after = await report(['report', 'campaigns'], env);
  expect(after.figures.rows[0].campaign).toMatch(/^night/);
  expect(describeSource(after.read)).toBe(
    'primary: the replica is no standby, or not any more: it takes changes of its own',
  );
});

function describeSource(read: PrintedSource | undefined): string {
  if (read === undefined) return 'no replica';
  if (read.from === 'replica') return read.secondsBehind === 0 ? 'replica, current' : 'replica, older';
  return `primary: ${read.because.replace(/\d+ s behind/, 'n s behind')}`;
}
