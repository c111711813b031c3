import { expect, test } from 'vitest';
import { similarPayerWarnings } from '../../src/campaign/charge-codes.ts';

const total = (subAccount: string | null, chargeCode: string | null, recipients: number) => ({
  subAccount,
  chargeCode,
  recipients,
  tariffIndex: 0,
  parts: null,
  example: null,
});

test('values of SubAccount and ChargeCode that differ only in case or spaces are named, the most frequent first', () => {
  expect(
    similarPayerWarnings([
      total('nsw', 'NET-1', 1),
      total('NSW', 'NET-1', 20),
      total('NSW ', 'NET-2', 3),
      total('VIC', 'net-2', 1),
      total('NSW', 'NET-3', 5),
      total(null, null, 9),
    ]),
  ).toEqual([
    'SubAccount has values that differ only in case or spaces, and are billed apart: "NSW" (25 recipients), "NSW " (3 recipients), "nsw" (1 recipient)',
    'ChargeCode has values that differ only in case or spaces, and are billed apart: "NET-2" (3 recipients), "net-2" (1 recipient)',
  ]);
});

test('values that differ in a letter or a digit are not named', () => {
  expect(similarPayerWarnings([total('NSW1', 'A', 1), total('NSW2', 'B', 1), total('NSW1', 'B', 1)])).toEqual(
    [],
  );
});
