import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Ledger } from '../../src/ledger/connection.ts';
import type { JournalLine } from '../../src/sandbox/journal.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { readJournal } from './journal.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { type Ended, type InProcessOptions, volleyInProcess } from './volley.ts';
import { accountEnvironment, accountsYaml, makeWorkspace, type Workspace } from './workspace.ts';

export type SandboxScene = {
  readonly ledger: Ledger;
  readonly databaseUrl: string;
  readonly sandbox: Sandbox;
  readonly replaceSandbox: (options: SandboxOptions) => Promise<void>;
  readonly folder: string;
  /** Of a command that another function starts. */
  readonly surroundings: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  readonly write: Workspace['write'];
  readonly journal: () => Promise<readonly JournalLine[]>;
  /** Runs the command line in this process. Adds `env` to the account's environment. */
  readonly command: (
    words: readonly string[],
    changes?: Omit<InProcessOptions, 'cwd'> & { readonly subfolder?: string },
  ) => Promise<Ended>;
};

/** Opens one ledger for the file, and a folder and sandbox for each test. */
export function useSandboxScene(files: Readonly<Record<string, string>> = {}): SandboxScene {
  let opened: TestLedger | undefined;
  let each: { readonly workspace: Workspace; readonly sandbox: Sandbox } | undefined;
  const ledger = (): TestLedger => opened ?? tooEarly();
  const scene = () => each ?? tooEarly();
  const journalIn = (workspace: Workspace): string => `${workspace.folder}/journal.jsonl`;
  beforeAll(async () => {
    opened = await openTestLedger();
  });
  afterAll(() => ledger().close());
  beforeEach(async () => {
    const workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml, ...files });
    each = { workspace, sandbox: await startSandbox({ journal: journalIn(workspace) }) };
  });
  afterEach(async () => {
    await scene().sandbox.close();
    await scene().workspace[Symbol.asyncDispose]();
  });
  return {
    get ledger() {
      return ledger().ledger;
    },
    get databaseUrl() {
      return ledger().url;
    },
    get sandbox() {
      return scene().sandbox;
    },
    get folder() {
      return scene().workspace.folder;
    },
    get surroundings() {
      return { cwd: scene().workspace.folder, env: { ...accountEnvironment(ledger(), scene().sandbox) } };
    },
    async replaceSandbox(options) {
      const { workspace, sandbox } = scene();
      await sandbox.close();
      each = { workspace, sandbox: await startSandbox({ journal: journalIn(workspace), ...options }) };
    },
    write: (path, content) => scene().workspace.write(path, content),
    journal: () => readJournal(journalIn(scene().workspace)),
    command(words, { env, subfolder = '.', ...changes } = {}) {
      const { workspace, sandbox } = scene();
      const whole = { ...accountEnvironment(ledger(), sandbox), ...env };
      return volleyInProcess(words, { ...changes, cwd: `${workspace.folder}/${subfolder}`, env: whole });
    },
  };
}

function tooEarly(): never {
  throw new Error('the scene is open only while tests run');
}
