import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Contact } from '../../src/domain/contacts.ts';
import type { RunRates } from '../../src/domain/rate-card.ts';
import type { PlannedRun } from '../../src/ledger/planning/planned-run.ts';
import { performStep, type World } from './billing-world.ts';
import { aContact, anEnvelope, aRun, openTestLedger, planContacts, type TestLedger } from './ledger.ts';
import { runStatement } from './statement.ts';
import { type Ended, type InProcessOptions, volleyInProcess } from './volley.ts';
import { accountsYaml, makeWorkspace, type Workspace } from './workspace.ts';

export const cellNames = ['north', 'south', 'west'] as const;
export type CellName = (typeof cellNames)[number];

const accountsOf: Readonly<Record<CellName, string>> = {
  north: 'alfa, bravo',
  south: 'charlie',
  west: 'delta',
};

/** A server that does not answer. */
export const awayUrl = 'postgres://volley:its-password@127.0.0.1:9/away';

export const cellsYaml = `# Divided in November.
cells:
${cellNames
  .map(
    (name) => `  ${name}:
    read: \${${name.toUpperCase()}_READ_URL}
    write: \${${name.toUpperCase()}_WRITE_URL}
    dashboard: https://${name}.example/
    accounts: [${accountsOf[name]}] # of ${name}
`,
  )
  .join('')}`;

export type CellsScene = {
  readonly ledgers: Readonly<Record<CellName, TestLedger>>;
  readonly workspace: Workspace;
  readonly environment: Readonly<Record<string, string>>;
  /** @param away cells that do not answer */
  readonly command: (
    words: readonly string[],
    options?: InProcessOptions & { readonly away?: readonly CellName[] },
  ) => Promise<Ended>;
  /** Plans and sends a run of ten contacts in a cell. The service accepts all. */
  readonly send: (cell: CellName, run: SentRun) => Promise<World>;
};

type SentRun = Partial<PlannedRun> & {
  readonly payers?: readonly Readonly<Record<string, string>>[];
  readonly rates?: RunRates | null;
};

/** Three ledgers, each with a role that only reads, and a folder with cells.yaml. */
export function useCells(): CellsScene {
  let ledgers: Readonly<Record<CellName, TestLedger>> | undefined;
  let workspace: Workspace | undefined;
  let environment: Readonly<Record<string, string>> = {};
  const reader = `cells_reader_${randomBytes(4).toString('hex')}`;
  const opened = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error('the scene is open only while tests run');
    return value;
  };
  beforeAll(async () => {
    const [north, south, west] = await Promise.all([openTestLedger(), openTestLedger(), openTestLedger()]);
    ledgers = { north, south, west };
    await runStatement(north.url, `CREATE ROLE ${reader} LOGIN PASSWORD 'of the reader'`);
    const urls: Record<string, string> = {};
    for (const name of cellNames) {
      const { url } = ledgers[name];
      // Test ledgers are copies of one.
      await runStatement(url, 'UPDATE ledger_location SET ledger = gen_random_uuid()');
      await runStatement(url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${reader}`);
      const read = new URL(url);
      [read.username, read.password] = [reader, 'of the reader'];
      urls[`${name.toUpperCase()}_READ_URL`] = read.href;
      urls[`${name.toUpperCase()}_WRITE_URL`] = url;
    }
    workspace = await makeWorkspace({ 'cells.yaml': cellsYaml, 'accounts.yaml': accountsYaml });
    environment = { ...urls, VOLLEY_CELLS: 'cells.yaml', VOLLEY_ACCOUNTS: 'accounts.yaml' };
  });
  afterAll(async () => {
    const { north, south, west } = opened(ledgers);
    await Promise.all([north.close(), south.close(), west.close()]);
    await runStatement(inject('testServerUrl'), `DROP ROLE ${reader}`);
    await workspace?.[Symbol.asyncDispose]();
  });
  return {
    get ledgers() {
      return opened(ledgers);
    },
    get workspace() {
      return opened(workspace);
    },
    get environment() {
      return environment;
    },
    command: (words, { away = [], env, ...options } = {}) => {
      const lost = away.flatMap((name) => [
        [`${name.toUpperCase()}_READ_URL`, awayUrl],
        [`${name.toUpperCase()}_WRITE_URL`, awayUrl],
      ]);
      return volleyInProcess(words, {
        cwd: opened(workspace).folder,
        ...options,
        env: { ...environment, ...Object.fromEntries(lost), ...env },
      });
    },
    send: async (cell, { payers = [{}], createdAt = new Date(), ...changes }) => {
      const { ledger } = opened(ledgers)[cell];
      const rows = Array.from({ length: 10 }, (_, index): Contact => {
        return aContact(index + 2, {
          envelope: anEnvelope({ Message: 'Hello', ...payers[index % payers.length] }),
        });
      });
      const planned = aRun({ chunkSize: 2, createdAt, ...changes });
      const run = await planContacts(ledger, planned, rows, { partsOf: () => 2 });
      const world: World = { ledger, runs: [run], now: createdAt };
      await performStep(world, { kind: 'send', run: 0, requests: 10, ends: Array(10).fill('accepted') });
      return world;
    },
  };
}
