import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { accountsPath, readText } from '../../engine/definition-files.ts';
import { listRuns } from '../../ledger/runs/find.ts';
import { embeddedServerStatus } from '../../platform/embedded-postgres.ts';
import { findHome } from '../../platform/project.ts';
import { readYaml } from '../../platform/yaml.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export type Suggestion = { readonly word: string; readonly summary: string };

const maxRuns = 50;
const maxWait = 1500;

/** `latest` and the newest runs. Only `latest` if an embedded server would have to start; nothing if the ledger does not answer at once: a person waits for the TAB. */
export async function suggestRuns(shell: Shell): Promise<readonly Suggestion[]> {
  if (!isLedgerRunning(shell)) return [{ word: 'latest', summary: 'the newest run' }];
  const quiet = { ...shell, note: () => undefined };
  const runs = withLedgerToRead(quiet, ({ ledger }) => listRuns(ledger.knex, maxRuns)).catch(() => []);
  const found = await Promise.race([runs, sleep(maxWait, undefined, { ref: false })]);
  // The connection would keep the process.
  if (found === undefined) return shell.leave(0);
  const runWords = found.map(({ run, campaign, state }) => ({ word: run, summary: `${campaign}, ${state}` }));
  const [newest] = runWords;
  return newest === undefined ? [] : [{ word: 'latest', summary: newest.summary }, ...runWords];
}

/** A TAB must not start a database server. */
function isLedgerRunning({ settings: { environment, workingFolder } }: Shell): boolean {
  if (environment['DATABASE_URL']) return true;
  const home = findHome(environment, workingFolder);
  return home !== undefined && embeddedServerStatus(home).state === 'running';
}

const names = z.looseObject({
  accounts: z.record(z.string(), z.looseObject({ interface: z.string().optional() })),
});

export async function suggestAccounts({ settings }: Shell): Promise<readonly Suggestion[]> {
  const path = accountsPath(settings);
  try {
    const { value } = readYaml(await readText(path, settings, 'accounts'), path, names);
    return Object.entries(value.accounts).map(([word, account]) => ({
      word,
      summary: account.interface ?? '',
    }));
  } catch {
    // Completion prints no errors; the command itself will.
    return [];
  }
}
