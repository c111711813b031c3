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
const recipientsPerDay = 900;

/** Each list is a random half of the people. One planner in four is killed at a random moment, and its run cancelled or not. */
test(`${planners} planners at once, in ${rounds} rounds with kills and cancelled runs, never pass a cap`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': `${accountsYaml}    frequency: { most: ${most}, within: 7d, over: [sms] }\n    limits: { recipientsPerDay: ${recipientsPerDay} }\n`,
    }),
  );
  const journal = join(workspace.folder, 'journal.jsonl');
  const sandbox = cleanUp.adopt(await startSandbox({ journal }), (it) => it.close());
  const surroundings = { cwd: workspace.folder, env: accountEnvironment(opened, sandbox) };
  const random = (...about: readonly (string | number)[]): number => seededRandom('caps', seed, about.join());
  const counts = { planned: 0, refused: 0, killed: 0, cancelled: 0 };

  const runOne = async (round: number, planner: number): Promise<void> => {
    const name = `list-${round}-${planner}`;
    const rows = Array.from({ length: people }, (_, person) => person)
      .filter((person) => random(name, person) < 0.5)
      .map((person) => `04120${String(person).padStart(5, '0')},Ann,C`);
    await workspace.write(`${name}.csv`, ['mobile,name,code', ...rows, ''].join('\n'));
    await workspace.write(
      `${name}.yaml`,
      smsCampaignYaml.replace('contacts.csv', `${name}.csv`).replace(/^campaign: .*$/m, `campaign: ${name}`),
    );
    const running = startVolley(['run', `${name}.yaml`, '--json'], surroundings);
    if (planner === round % planners) {
      await sleep(200 + 2_500 * random('kill', round));
      counts.killed += running.process.kill('SIGKILL') ? 1 : 0;
    }
    const { code } = await running.ended;
    if (code === 0) counts.planned++;
    if (code === 2) counts.refused++;
  };

  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: planners }, (_, planner) => runOne(round, planner)));
    for (const { run } of await listUnfinishedRuns(opened.ledger.pool))
      if (random('cancel', run) < 0.5) {
        await cancel(opened.context, run, 'by the test');
        counts.cancelled++;
      }
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
  // The day is full in the end, so a lock of a killed planner held none of the others up.
  expect(rows.reduce((sum, { messages }) => sum + messages, 0)).toBe(recipientsPerDay);
});
