import { beforeEach, expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/engine/access/tokens.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/server/metrics.ts';
import { openBareDashboard } from '../../support/bare-dashboard.ts';
import { hiddenFields, signIn } from '../../support/dashboard-scene.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let url: string;
let lines: Record<string, unknown>[];
let metrics: ReturnType<typeof createMetrics>;
/** A dashboard that has refused no address yet. */
beforeEach(async () => {
  lines = [];
  metrics = createMetrics({ includeNode: false });
  const dashboard = await openBareDashboard(opened.context, {
    logger: openLogger('info', 'info', { write: (line) => void lines.push(JSON.parse(line)) }),
    onSignIn: metrics.signIns,
  });
  url = dashboard.address;
  return () => dashboard.close();
});

let tokens = 0;
const newToken = async (): Promise<{ name: string; token: string }> => {
  const asked = { owner: 'ann', scope: 'read', accounts: null, expiresAt: null } as const;
  const name = `token-${++tokens}`;
  return { name, token: await createToken(opened.context, { ...asked, name }) };
};
const post = (token: string): Promise<Response> =>
  fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
    headers: { origin: url },
    redirect: 'manual',
  });
const counted = async (): Promise<Record<string, number>> => {
  const { values } = (await metrics.registry.getSingleMetric('volley_dashboard_sign_ins_total')?.get()) ?? {
    values: [],
  };
  return Object.fromEntries(values.map(({ labels, value }) => [labels['event'], value]));
};
const logged = () => lines.map(({ event, address, token, why }) => ({ event, address, token, why }));

test('signing in and signing out are counted, and logged with the name of the token', async () => {
  const { name, token } = await newToken();
  const person = await signIn(url, token);
  const csrf = hiddenFields((await person.get('/zone')).text)['csrf'] ?? '';
  expect((await person.post('/sign-out', { csrf })).status).toBe(303);
  expect(await counted()).toEqual({ 'signed in': 1, 'signed out': 1 });
  const line = { address: '127.0.0.1', token: name };
  expect(logged()).toEqual([
    { ...line, event: 'signed in' },
    { ...line, event: 'signed out' },
  ]);
});

test('refused and throttled sign-ins are all counted, and logged once a minute for each address', async () => {
  const { name, token } = await newToken();
  await revokeToken(opened.context, name);
  await post(token);
  for (let wrong = 0; wrong < 61; wrong++) await post('volley_wrong');
  expect((await post('volley_wrong')).status).toBe(429);
  expect(await counted()).toEqual({ refused: 60, throttled: 3 });
  expect(logged()).toEqual([
    { event: 'refused', address: '127.0.0.1', token: name, why: 'revoked' },
    { event: 'throttled', address: '127.0.0.1', why: 'unknown' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('volley_');
});
