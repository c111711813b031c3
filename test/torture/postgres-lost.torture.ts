import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { expect, test } from 'vitest';
import { requireSummary } from '../../src/engine/runs/find-run.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { contextOf } from '../support/ledger.ts';
import { attemptsWithoutEnd, executeIn, planRequests } from '../support/outage-runs.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { type Executed as HowExecuted, startPostgresProxy } from '../support/postgres-proxy.ts';
import { sendPeer } from '../support/send-peer.ts';

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
  // An earlier cut may break it, as it would a new process.
  const openEngine = () => pRetry(() => openLedger({ connectionString: proxy.url }, 'own Postgres'));
  await using service = await sendPeer(async ({ number }) => {
    await sleep(random('latency', number, 30));
    return { kind: seededRandom('busy', seed, number) < 0.03 ? 'busy' : 'accepted' };
  });

  const ways: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
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
    'cut at a statement': (index) => cutSomewhere(index),
    'cut at many statements': (index) =>
      Promise.all(Array.from({ length: 5 }, (_, cut) => cutSomewhere(index * 1_000 + cut))),
  };
  /** At a random statement, also a COMMIT. */
  const cutSomewhere = (index: number): Promise<unknown> => {
    const kinds: readonly HowExecuted[] = ['never', 'at once', 'late'];
    const executed = kinds[random('executed', index, 3)] ?? 'never';
    const cut = proxy.cut({ statement: /./, executed, after: random('after', index, 200) });
    return Promise.race([cut, sleep(3_000)]);
  };

  const figures = new Map<string, number>();
  const add = (what: string, count = 1) => figures.set(what, (figures.get(what) ?? 0) + count);
  const names = Object.keys(ways);
  const runs: string[] = [];
  let lost = 0;

  const begun = performance.now();
  while (lost < outages) {
    await postgres.isReady();
    const run = await planRequests(ledger, requests);
    runs.push(run);
    let over = false;
    const ledgers = await Promise.all([openEngine(), openEngine()]);
    const engines = Promise.all(ledgers.map((each) => executeIn(each, run, service))).finally(() => {
      over = true;
    });
    engines.catch(() => undefined);
    while (!over && lost < outages) {
      const name = names[random('way', lost, names.length)] ?? '';
      lost++;
      add(`lost: ${name}`);
      await ways[name]?.(lost);
      await sleep(random('between', lost, 1_500));
    }
    const ended = await engines;
    for (const each of ledgers) await each.close();
    await postgres.isReady();
    for (const { end, outages } of ended) {
      expect(end.kind).toBe('finished');
      expect(outages.filter((word) => word === 'away').length).toBe(
        outages.filter((word) => word === 'back').length,
      );
      add('said that it is away', outages.length / 2);
    }
    const summary = await requireSummary(contextOf(ledger), run);
    expect(summary).toMatchObject({
      state: 'completed',
      requests: { total: requests, planned: 0, sending: 0 },
    });
    expect(await attemptsWithoutEnd(ledger, run)).toEqual([]);
    for (const [state, count] of Object.entries(summary.requests))
      if (count > 0) add(`requests ${state}`, count);
  }

  const times = new Map<string, number>();
  for (const { messageId } of service.accepted()) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  const { rows } = await ledger.pool.query<{ message_id: string; state: string }>(
    'SELECT message_id, state FROM request_states WHERE run_id = ANY ($1)',
    [runs],
  );
  await ledger.close();
  const twice = [...times.values()].filter((count) => count > 1).length;
  const untrue = rows.filter(
    ({ message_id, state }) => state === 'accepted' && !times.has(message_id),
  ).length;
  const forgotten = rows.filter(
    ({ message_id, state }) => state !== 'accepted' && state !== 'in_doubt' && times.has(message_id),
  ).length;
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
