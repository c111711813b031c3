import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cancel } from '../../src/engine/runs/stop-run.ts';
import { listUnfinishedRuns } from '../../src/ledger/runs/find.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger } from '../support/ledger.ts';
import { startVolley } from '../support/volley.ts';
import { accountEnvironment, accountsYaml, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const rounds = Number(process.env['VOLLEY_TORTURE_ROUNDS'] ?? 10);
const planners = 4;
const people = 400;
const most = 3;
const recipientsPerDay = 450 * rounds;

/** `Etc/GMT+5` is five hours behind UTC. In this zone it is noon, so the day does not end during the test. */
const hoursBehind = new Date().getUTCHours() - 12;
const zone = `Etc/GMT${hoursBehind < 0 ? '' : '+'}${hoursBehind}`;

/**
 * Each list is a random half of people, others in each second round. One planner in four is killed at a random moment,
 * in each second round while it sends, and its run cancelled or not.
 */
test(`${planners} planners at once, in ${rounds} rounds with kills and cancelled runs, never pass a cap`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': `${accountsYaml}    frequency: { most: ${most}, within: 7d, over: [sms] }\n    limits: { recipientsPerDay: ${recipientsPerDay} }\n    ratesTimeZone: ${zone}\n`,
    }),
  );
  const journal = join(workspace.folder, 'journal.jsonl');
  const sandbox = cleanUp.adopt(await startSandbox({ journal, latency: 300 }), (it) => it.close());
  const surroundings = { cwd: workspace.folder, env: accountEnvironment(opened, sandbox) };
  const random = (...about: readonly (string | number)[]): number => seededRandom('caps', seed, about.join());
  const counts = { planned: 0, refused: 0, killed: 0, cancelled: 0 };

  const runOne = async (round: number, planner: number): Promise<void> => {
    const name = `list-${round}-${planner}`;
    const rows = Array.from({ length: people }, (_, person) => Math.floor(round / 2) * people + person)
      .filter((person) => random(name, person) < 0.5)
      .map((person) => `04120${String(person).padStart(5, '0')},Ann,C`);
    await workspace.write(`${name}.csv`, ['mobile,name,code', ...rows, ''].join('\n'));
    await workspace.write(
      `${name}.yaml`,
      smsCampaignYaml
        .replace('chunkSize: 1, concurrency: 4', 'chunkSize: 10, concurrency: 2')
        .replace('contacts.csv', `${name}.csv`)
        .replace(/^campaign: .*$/m, `campaign: ${name}`),
    );
    const running = startVolley(['run', `${name}.yaml`, '--json'], surroundings);
    if (planner === round % planners) {
      const isLate = round % 2 === 1;
      if (isLate) await running.waitForText('planned  run').catch(() => undefined);
      await sleep((isLate ? 300 : 4_000) * random('kill', round));
      counts.killed += running.process.kill('SIGKILL') ? 1 : 0;
    }
    const { code } = await running.ended;
    // Processes beside it may go on with its run.
    const [unfinished] = code === null ? await listUnfinishedRuns(opened.ledger.pool, name) : [];
    if (unfinished && random('cancel', round) < 0.5) {
      await cancel(opened.context, unfinished.run, 'by the test');
      counts.cancelled++;
    }
    // 3: a process that was killed was sending requests of this run too, and they are in doubt.
    if (code === 0 || code === 3) counts.planned++;
    if (code === 2) counts.refused++;
  };

  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: planners }, (_, planner) => runOne(round, planner)));
  }

  const { rows } = await opened.ledger.pool.query<{ messages: number }>(`
    SELECT count(*)::integer AS messages
    FROM request_states
    JOIN runs USING (run_id)
    CROSS JOIN LATERAL recipients_between(run_id, request, request) a
    WHERE request_states.state IN ('planned', 'sending', 'accepted', 'in_doubt')
    GROUP BY address
  `);
  const accepted = (await readJournal(journal)).filter(({ status }) => status === 200);
  const received = Map.groupBy(
    accepted.flatMap(({ recipients }) => recipients),
    (address) => address,
  );
  console.log(
    JSON.stringify({ seed, ...counts, messages: rows.reduce((sum, each) => sum + each.messages, 0) }),
  );
  expect(counts.planned).toBeGreaterThan(0);
  expect(Math.max(...rows.map(({ messages }) => messages))).toBe(most);
  expect(Math.max(...[...received.values()].map(({ length }) => length))).toBe(most);
  expect(rows.reduce((sum, { messages }) => sum + messages, 0)).toBeLessThanOrEqual(recipientsPerDay);
  // A lock of a killed planner held none of the others up.
  expect(counts.planned + counts.refused).toBeGreaterThanOrEqual(rounds * (planners - 1));
});
