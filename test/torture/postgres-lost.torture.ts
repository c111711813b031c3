import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { expect, test } from 'vitest';
import { requireSummary } from '../../src/engine/runs/find-run.ts';
import { type Ledger, openLedger } from '../../src/ledger/connection.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { contextOf } from '../support/ledger.ts';
import { attemptsWithoutEnd, executeIn, planRequests } from '../support/outage-runs.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import {
  type Executed as HowExecuted,
  type PostgresProxy,
  startPostgresProxy,
} from '../support/postgres-proxy.ts';
import { type SendPeer, sendPeer } from '../support/send-peer.ts';

const seed = Number(process.env['TORTURE_SEED'] ?? 1);
const outages = Number(process.env['TORTURE_OUTAGES'] ?? 120);
const requests = 3_000;

const random = (what: string, index: number, below: number) =>
  Math.floor(seededRandom(what, seed, index) * below);

test(`two processes that share runs lose and repeat no request in ${outages} outages of Postgres`, async () => {
  await using postgres = await startOwnPostgres();
  const url = await postgres.createDatabase();
  await using proxy = await startPostgresProxy(url);
  const ledger = await openLedger({ connectionString: url }, 'own Postgres');
  await using service = await sendPeer(async ({ number }) => {
    await sleep(random('latency', number, 30));
    return { kind: seededRandom('busy', seed, number) < 0.03 ? 'busy' : 'accepted' };
  });
  const figures = new Map<string, number>();
  const add: Add = (what, count = 1) => figures.set(what, (figures.get(what) ?? 0) + count);
  const causes = outageCauses(postgres, proxy);
  const runs: string[] = [];
  let lost = 0;
  const causeOutage = async (): Promise<void> => {
    const [name, cause] = causes[random('way', lost, causes.length)] ?? [];
    lost++;
    add(`lost: ${name}`);
    await cause?.(lost);
    await sleep(random('between', lost, 1_500));
  };

  const begun = performance.now();
  while (lost < outages) {
    await postgres.isReady();
    const run = await planRequests(ledger, requests);
    runs.push(run);
    const ended = await sendInTwoProcesses(proxy, service, run, async (isOver) => {
      while (!isOver() && lost < outages) await causeOutage();
    });
    await postgres.isReady();
    for (const { end, outages: reported } of ended) {
      expect(end.kind).toBe('finished');
      const count = (event: string): number => reported.filter((each) => each === event).length;
      expect(count('down')).toBe(count('up'));
      add('outages reported', reported.length / 2);
    }
    await expectCompleted(ledger, run, add);
  }

  const { twice, untrue, forgotten } = await compareWithService(ledger, runs, service);
  await ledger.close();
  add('runs', runs.length);
  add('accepted twice by the service', twice);
  add('accepted in the ledger only', untrue);
  add('accepted by the service, and neither accepted nor in doubt', forgotten);
  add('seconds', Math.round((performance.now() - begun) / 1_000));
  console.log(
    [`seed ${seed}`, ...[...figures].map(([what, count]) => `${what.padEnd(56)} ${count}`)].join('\n'),
  );
  expect([twice, untrue, forgotten]).toEqual([0, 0, 0]);
});

type Add = (what: string, count?: number) => void;

type Cause = (index: number) => Promise<unknown>;

function outageCauses(postgres: OwnPostgres, proxy: PostgresProxy): readonly (readonly [string, Cause])[] {
  /** At a random statement, also a COMMIT. */
  const cutSomewhere: Cause = (index) => {
    const kinds: readonly HowExecuted[] = ['never', 'at once', 'late'];
    const executed = kinds[random('executed', index, 3)] ?? 'never';
    const cut = proxy.cut({ statement: /./, executed, after: random('after', index, 200) });
    return Promise.race([cut, sleep(3_000)]);
  };
  const causes: Readonly<Record<string, Cause>> = {
    'killed and started': async (index) => {
      await postgres.kill();
      await sleep(random('down', index, 3_000));
      await postgres.start();
    },
    'stopped and started': async (index) => {
      await postgres.stop();
      await sleep(random('down', index, 1_000));
      await postgres.start();
    },
    'a session killed': () => postgres.killSession(),
    frozen: async (index) => {
      postgres.freeze();
      await sleep(random('frozen', index, 4_000));
      postgres.thaw();
    },
    'connections lost': async (index) => {
      proxy.stop();
      await sleep(random('refused', index, 2_000));
      await proxy.listen();
    },
    'unanswered, then lost': async (index) => {
      proxy.hang();
      await sleep(random('unanswered', index, 2_000));
      proxy.stop();
      await proxy.listen();
    },
    'cut at a statement': cutSomewhere,
    'cut at many statements': (index) =>
      Promise.all(Array.from({ length: 5 }, (_, cut) => cutSomewhere(index * 1_000 + cut))),
  };
  return Object.entries(causes);
}

/** @param meanwhile causes outages until the run is over */
async function sendInTwoProcesses(
  proxy: PostgresProxy,
  service: SendPeer,
  run: string,
  meanwhile: (isOver: () => boolean) => Promise<void>,
) {
  // An earlier cut may break it, as it would a new process.
  const open = () => pRetry(() => openLedger({ connectionString: proxy.url }, 'own Postgres'));
  const ledgers = await Promise.all([open(), open()]);
  let over = false;
  const executed = Promise.all(ledgers.map((each) => executeIn(each, run, service))).finally(() => {
    over = true;
  });
  executed.catch(() => undefined);
  await meanwhile(() => over);
  const ended = await executed;
  for (const each of ledgers) await each.close();
  return ended;
}

async function expectCompleted(ledger: Ledger, run: string, add: Add): Promise<void> {
  const summary = await requireSummary(contextOf(ledger), run);
  expect(summary).toMatchObject({
    state: 'completed',
    requests: { total: requests, planned: 0, sending: 0 },
  });
  expect(await attemptsWithoutEnd(ledger, run)).toEqual([]);
  for (const [state, count] of Object.entries(summary.requests))
    if (count > 0) add(`requests ${state}`, count);
}

async function compareWithService(ledger: Ledger, runs: readonly string[], service: SendPeer) {
  const times = new Map<string, number>();
  for (const { messageId } of service.accepted()) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  const { rows } = await ledger.pool.query<{ id: string; state: string }>(
    'SELECT message_id AS id, state FROM request_states WHERE run_id = ANY ($1)',
    [runs],
  );
  const isAccepted = ({ state }: { state: string }): boolean => state === 'accepted';
  return {
    twice: [...times.values()].filter((count) => count > 1).length,
    untrue: rows.filter((row) => isAccepted(row) && !times.has(row.id)).length,
    forgotten: rows.filter((row) => !isAccepted(row) && row.state !== 'in_doubt' && times.has(row.id)).length,
  };
}
