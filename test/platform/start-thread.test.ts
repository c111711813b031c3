import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { testWorkspace } from '../support/test-workspace.ts';

const startThread = fileURLToPath(new URL('../../src/platform/start-thread.ts', import.meta.url));

const workspace = testWorkspace({
  'thread.ts': `import { getCompileCacheDir } from 'node:module';
    import { parentPort } from 'node:worker_threads';
    parentPort?.postMessage(getCompileCacheDir() ?? 'none');`,
  'process.mjs': `import { enableCompileCache, getCompileCacheDir } from 'node:module';
    enableCompileCache('compiled');
    const { startThread } = await import(${JSON.stringify(startThread)});
    startThread(new URL('./thread', import.meta.url), {}).on('message', (folder) =>
      console.log(JSON.stringify([getCompileCacheDir(), folder])));`,
});

test('a thread finds its compiled modules in the folder of its process', () => {
  const answer = execFileSync(process.execPath, ['process.mjs'], { cwd: workspace.folder, env: {} });
  const [ofProcess, ofThread] = JSON.parse(answer.toString());
  expect(ofProcess).toContain('compiled');
  expect(ofThread).toBe(ofProcess);
});
