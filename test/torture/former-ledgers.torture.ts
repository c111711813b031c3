import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startTestSandbox } from '../sandbox/start-test-sandbox.ts';
import { createBareDatabase } from '../support/database.ts';
import { type FormerLedger, formerHashKey, formerLedgerFiles } from '../support/former-ledger.ts';
import { runStatement } from '../support/statement.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** A ledger of each release is migrated, and its runs are sent, by processes that are killed. */
const fixtures = new URL('../fixtures/ledgers/', import.meta.url);
const releases = readdirSync(fixtures).filter((name) => !name.endsWith('.ts'));
const rounds = Number(process.env['VOLLEY_TORTURE_ROUNDS'] ?? 20);

describe.each(releases)('a ledger of %s', (release) => {
  const read = (name: string) => readFileSync(new URL(`${release}/${name}`, fixtures), 'utf8');
  const { runs }: FormerLedger = JSON.parse(read('expected.json'));
  /** Of these runs, requests were left to send. Of the second, the killed process of that release had one in flight. */
  const unfinished = [runs.paused, runs.running];

  async function openFormerLedger() {
    await using cleanUp = new AsyncDisposableStack();
    const database = cleanUp.adopt(await createBareDatabase(), (it) => it.drop());
    const workspace = cleanUp.use(await makeWorkspace(formerLedgerFiles));
    const sandbox = cleanUp.use(await startTestSandbox({ latency: 100 }));
    await runStatement(database.url, read('ledger.sql'));
    const start = (...words: readonly string[]) =>
      startVolley(words, {
        cwd: workspace.folder,
        env: {
          DATABASE_URL: database.url,
          VOLLEY_HOME: `${workspace.folder}/.volley`,
          VOLLEY_ACCOUNTS: 'accounts.yaml',
          VOLLEY_HASH_KEY: formerHashKey,
          VOLLEY_SANDBOX_URL: sandbox.url,
          VOLLEY_SANDBOX_TOKEN: 'any',
        },
      });
    /** @returns whether the process was killed before its end */
    const killAfter = async (milliseconds: number, ...words: readonly string[]): Promise<boolean> => {
      const started = start(...words);
      const outcome = await Promise.race([started.ended, sleep(milliseconds, 'killed' as const)]);
      if (outcome === 'killed') started.process.kill('SIGKILL');
      await started.ended;
      return outcome === 'killed';
    };
    const expectEnd = async (codes: readonly number[], ...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await start(...words).ended;
      expect(codes, stderr).toContain(code);
      return stdout;
    };
    const owned = cleanUp.move();
    return { database, sandbox, killAfter, expectEnd, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  test(`fits after killed migrations, and killed processes send each of its requests at most once, ${rounds} times`, async () => {
    let interrupted = 0;
    for (let round = 0; round < rounds; round++) {
      await using former = await openFormerLedger();
      const { database, sandbox, killAfter, expectEnd } = former;
      const delays = [...Array(4).keys()].map(() => 200 + Math.random() * 1_000);
      for (const delay of delays) if (await killAfter(delay, 'db', 'migrate')) interrupted++;
      await expectEnd([0], 'db', 'migrate');
      expect(await expectEnd([0], 'db', 'status')).toContain('ledger: fits this version');
      await expectEnd([0], 'db', 'restored', '--nothing-missing', '--reason', 'a restored dump');

      for (const run of unfinished)
        if (await killAfter(400 + Math.random() * 900, 'resume', run)) interrupted++;
      for (const run of unfinished) {
        // Requests that were in flight when a process was killed are in doubt.
        await expectEnd([0, 3], 'resume', run);
        const { state, requests } = JSON.parse(await expectEnd([0], 'status', run, '--json'));
        expect(state).toBe('completed');
        expect(requests.accepted + requests.in_doubt).toBe(requests.total);
      }
      const sent = (await sandbox.journal()).map(({ messageId }) => messageId);
      expect(sent).toEqual([...new Set(sent)]);
      const accepted = await runStatement(
        database.url,
        `SELECT message_id FROM request_states WHERE run_id IN ('${unfinished.join("','")}') AND state IN ('accepted', 'in_doubt')`,
      );
      // Nothing was sent that the ledger does not name.
      const known = new Set(accepted.map(({ message_id: id }) => id));
      expect(sent.filter((id) => !known.has(id))).toEqual([]);
    }
    console.log(JSON.stringify({ release, rounds, interrupted }));
    expect(interrupted).toBeGreaterThan(rounds);
  });
});
