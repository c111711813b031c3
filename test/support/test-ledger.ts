import { afterAll, beforeAll } from 'vitest';
import { openTestLedger, type TestLedger } from './ledger.ts';

/** A ledger of its own for a test file: opened before its first test, and dropped after its last. */
export function testLedger(): TestLedger {
  let opened: TestLedger | undefined;
  beforeAll(async () => {
    opened = await openTestLedger();
  });
  afterAll(() => opened?.close());
  const now = (): TestLedger => opened ?? expectTest();
  return {
    get ledger() {
      return now().ledger;
    },
    get context() {
      return now().context;
    },
    get url() {
      return now().url;
    },
    dropDatabase: () => now().dropDatabase(),
    breakConnections: () => now().breakConnections(),
    close: () => now().close(),
  };
}

function expectTest(): never {
  throw new Error('The ledger is open only in tests and hooks.');
}
