import { afterAll, beforeAll } from 'vitest';
import { accountsYaml, makeWorkspace, type Workspace } from './workspace.ts';

/** A workspace for a test file, with the account `sandbox`: made before its first test, and removed after its last. */
export function testWorkspace(
  files: Readonly<Record<string, string>> = { 'accounts.yaml': accountsYaml },
): Pick<Workspace, 'folder' | 'write' | 'read'> {
  let made: Workspace | undefined;
  beforeAll(async () => {
    made = await makeWorkspace(files);
  });
  afterAll(() => made?.[Symbol.asyncDispose]());
  const now = (): Workspace => made ?? expectTest();
  return {
    get folder() {
      return now().folder;
    },
    write: (path, content) => now().write(path, content),
    read: (path) => now().read(path),
  };
}

function expectTest(): never {
  throw new Error('The workspace exists only in tests and hooks.');
}
