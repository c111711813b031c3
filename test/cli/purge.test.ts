import { beforeAll, describe, expect, test } from 'vitest';
import { confirmPurge } from '../../src/cli/commands/purge.ts';
import type { StandardInput } from '../../src/engine/settings.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { dumpOf, findTexts, planOldRun, plantedTexts, secret } from '../support/purges.ts';
import { inOrder } from '../support/sheets.ts';
import { problemsRejected } from '../support/thrown-problems.ts';
import type { Ended } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

const scene = useLedgerScene();
let run: string;
beforeAll(async () => {
  run = await planOldRun(scene.opened);
});

const key = { VOLLEY_HASH_KEY: secret };

const purge = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  scene.command(['purge', '--older-than', '100d', ...words], { env });

describe('volley purge', () => {
  test('volley purge --dry-run prints what it would erase, and needs no hash key', async () => {
    expect(await purge(['--dry-run'])).toMatchObject({
      code: 0,
      stdout:
        'To be erased: the contacts and messages of 1 run (3 recipients), 5 raw delivery reports; 1 suppression to be hashed. Given up for good: the addresses, the messages with their files, and the words of the service. Kept: what was sent, delivered and charged, for each payer. The price of a delivery report that comes later is still billed to its payer, without the recipient.\n',
    });
  });

  test('volley purge erases no messages that a cap of the accounts file counts', async () => {
    await scene.workspace.write('accounts.yaml', `${accountsYaml}    frequency: { most: 3, within: 120d }\n`);
    const env = { VOLLEY_ACCOUNTS: 'accounts.yaml' };
    expect(await purge(['--dry-run'], env)).toMatchObject({
      code: 2,
      stderr:
        '--older-than: Nothing was erased. Expected 120d or more: "frequency" of the accounts file counts messages as old as that.\n',
    });
  });

  test('volley purge erases nothing without --yes, or with a hash key that other users can read', async () => {
    const asked = await purge([], key);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toContain(
      '--yes: Nothing was erased. A purge cannot be undone, and there is no terminal',
    );
    const keyless = await purge(['--yes']);
    expect(keyless).toMatchObject({ code: 2, stdout: '' });
    expect(keyless.stderr).toContain('VOLLEY_HASH_KEY: ');
    expect(findTexts(await dumpOf(scene.opened.ledger.pool))).toEqual(plantedTexts);
  });

  test('volley purge --yes erases, and prints what it erases for each run', async () => {
    const { code, stdout, stderr } = await purge(['--yes', '--json'], key);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ runs: 1, recipients: 3, reports: 5, suppressions: 1 });
    expect(stderr).toContain(`Erasing run ${run} (reminder, 3 recipients)`);
    expect(findTexts(await dumpOf(scene.opened.ledger.pool))).toEqual([]);
  });
});

describe('volley purge of old records', () => {
  test.each(['--records-older-than', '--audit-older-than'])(
    '%s refuses a time of less than a year, and erases nothing',
    async (option) => {
      expect(await purge([option, '365d', '--yes'], key)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `${option}: Nothing was erased. Expected 366d or more, such as 3650d.\n`,
      });
    },
  );

  test('the records of a run whose month is not closed are kept, and named', async () => {
    const { pool } = scene.opened.ledger;
    await pool.query(`UPDATE runs SET finished_at = '2024-01-02', purged_at = '2024-02-02', purging = false`);
    const { code, stderr } = await purge(['--records-older-than', '400d', '--dry-run']);
    expect([code, stderr]).toEqual([
      0,
      `The records of run ${run} are kept: a month in which it is billed is not closed (\`volley billing close\`).\n`,
    ]);
    await pool.query(
      `INSERT INTO billing_closings VALUES ('2025-12', 'UTC', '2025-12-01', '2026-01-01', now(), 'ann')`,
    );
    const { stdout } = await purge(['--records-older-than', '400d', '--dry-run']);
    expect(stdout).toContain('To be deleted: the records of 1 purged run; audit entries: 0.');
    const deleted = await purge(['--records-older-than', '400d', '--yes', '--json'], key);
    expect(JSON.parse(deleted.stdout)).toMatchObject({ deleted: { runs: 1, held: [], auditEntries: 0 } });
    const report = await scene.command(['report', 'run', run]);
    expect(report.stdout).toMatch(
      /^ {2}records +deleted at 20.*; counts, requests that were not simply accepted/m,
    );
  });
});

describe('volley purge on a terminal', () => {
  const terminal = (typed: string): StandardInput =>
    Object.assign(inOrder([Buffer.from(typed)]), { isTTY: true });

  test('volley purge erases when the operator types "purge"', async () => {
    const notes: string[] = [];
    await confirmPurge('To be erased: all.', terminal('purge\n'), (text) => notes.push(text));
    expect(notes.join()).toContain('To be erased: all.\nThis cannot be undone.');
  });

  test('volley purge erases nothing when the operator types another word', async () => {
    const ask = (typed: string) => confirmPurge('', terminal(typed), () => undefined);
    expect(await problemsRejected(() => ask('y\n'))).toEqual(['volley purge: Nothing was erased.']);
    expect(await problemsRejected(() => ask(''))).toHaveLength(1);
  });
});
