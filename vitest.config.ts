import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// For the processes of tests, what they start, and threads: starting Volley compiled takes half the time.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/tests', import.meta.url));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    provide: { filesInMemory: true },
    // Processes, as tests send signals; each takes one file after the other, and loads its modules once.
    pool: 'forks',
    isolate: false,
    // With its usual limits V8 marks all that the loaded modules keep again and again, half of a process's time, and
    // moves what tests soon drop, a twelfth of it.
    execArgv: ['--initial-old-space-size=256', '--max-semi-space-size=64'],
    // On two cores one more: many wait for servers and processes, and compute little.
    maxWorkers: Math.max(3, availableParallelism()),
    // Far longer than any takes on a machine with nothing else to do: a busy one is no reason to fail.
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
});
