import { afterAll, beforeAll } from 'vitest';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { type Ended, type InProcessOptions, volleyInProcess } from './volley.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

export type LedgerScene = {
  readonly opened: TestLedger;
  readonly workspace: Workspace;
  /** Runs a command line in this process, in the folder. Adds `env` to the environment of the scene. */
  readonly command: (words: readonly string[], changes?: InProcessOptions) => Promise<Ended>;
};

/** Opens one ledger and one folder for all tests of the file. */
export function useLedgerScene(
  files: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): LedgerScene {
  let scene: { readonly opened: TestLedger; readonly workspace: Workspace } | undefined;
  const open = () => {
    if (!scene) throw new Error('the scene is open only while tests run');
    return scene;
  };
  beforeAll(async () => {
    scene = { opened: await openTestLedger(), workspace: await makeWorkspace(files) };
  });
  afterAll(async () => {
    await open().opened.close();
    await open().workspace[Symbol.asyncDispose]();
  });
  return {
    get opened() {
      return open().opened;
    },
    get workspace() {
      return open().workspace;
    },
    command: (words, { env, ...changes } = {}) =>
      volleyInProcess(words, {
        cwd: open().workspace.folder,
        ...changes,
        env: { DATABASE_URL: open().opened.url, ...environment, ...env },
      }),
  };
}
