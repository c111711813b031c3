import { expect, test } from 'vitest';
import { openRenewedToken, renewedTokenLifetime } from '../../../src/engine/access/tokens.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const request = (name: string) => ({ name, owner: 'ann', scope: 'admin', accounts: null }) as const;

async function tokenOf(name: string): Promise<{ expires: Date; revoked: boolean }> {
  const { rows } = await opened.ledger.pool.query<{ expires: Date; revoked: boolean }>(
    'SELECT expires_at AS expires, revoked_at IS NOT NULL AS revoked FROM tokens WHERE name = $1',
    [name],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no token ${name}`);
  return row;
}

test('a token that a process made for itself expires two minutes after a kill', async () => {
  const begun = opened.context.now().getTime();
  const token = await openRenewedToken(opened.context, request('of a killed process'));
  const { expires } = await tokenOf('of a killed process');
  expect(renewedTokenLifetime).toBe(120_000);
  expect(expires.getTime()).toBeLessThanOrEqual(opened.context.now().getTime() + renewedTokenLifetime);
  expect(expires.getTime()).toBeGreaterThanOrEqual(begun + renewedTokenLifetime);
  await token.revoke();
});

test('it is renewed while the process runs, also after it expired, and never once it is revoked', async () => {
  const token = await openRenewedToken(opened.context, request('renewed'), 200);
  await opened.ledger.pool.query(`UPDATE tokens SET expires_at = '2020-01-01' WHERE name = 'renewed'`);
  await expect
    .poll(async () => (await tokenOf('renewed')).expires.getFullYear(), { timeout: 20_000 })
    .toBeGreaterThan(2020);
  await token.revoke();
  const { expires, revoked } = await tokenOf('renewed');
  expect(revoked).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect((await tokenOf('renewed')).expires).toEqual(expires);
});
