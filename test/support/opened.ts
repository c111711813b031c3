import { afterAll, beforeAll } from 'vitest';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { accountsYaml, makeWorkspace, type Workspace } from './workspace.ts';

/** Opens a ledger for the tests of a file, and closes it after them. */
export function useTestLedger(): TestLedger {
  const opened = openForFile(openTestLedger, (ledger) => ledger.close());
  return {
    get ledger() {
      return opened().ledger;
    },
    get context() {
      return opened().context;
    },
    get url() {
      return opened().url;
    },
    breakConnections: () => opened().breakConnections(),
    dropDatabase: () => opened().dropDatabase(),
    close: () => opened().close(),
  };
}

/** Makes a workspace for the tests of a file, with the account `sandbox`, and removes it after them. */
export function useWorkspace(
  files: Readonly<Record<string, string>> = { 'accounts.yaml': accountsYaml },
): Pick<Workspace, 'folder' | 'write' | 'read'> {
  const opened = openForFile(
    () => makeWorkspace(files),
    (workspace) => workspace[Symbol.asyncDispose](),
  );
  return {
    get folder() {
      return opened().folder;
    },
    write: (path, content) => opened().write(path, content),
    read: (path) => opened().read(path),
  };
}

function openForFile<Opened>(open: () => Promise<Opened>, close: (opened: Opened) => PromiseLike<unknown>) {
  let opened: { readonly it: Opened } | undefined;
  beforeAll(async () => {
    opened = { it: await open() };
  });
  afterAll(() => opened && close(opened.it));
  return (): Opened => {
    if (!opened) throw new Error('It is open only while tests run.');
    return opened.it;
  };
}
