import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../src/engine/access/tokens.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { startOperations } from '../../src/server/operations.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { bareTools, openBareDashboard } from '../support/bare-dashboard.ts';
import { signIn, type Visitor } from '../support/dashboard-scene.ts';
import { openRawConnection, type RawConnection } from '../support/raw-http.ts';
import { receiverOptions, token as webhookToken } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let address: string;
let api: Awaited<ReturnType<typeof openBareDashboard>>;
let person: Visitor;
const logged: string[] = [];
let cutOff = 0;
beforeAll(async () => {
  const logger = openLogger('warn', 'info', { write: (line) => void logged.push(line) });
  api = await openBareDashboard(opened.context, {
    api: { ...bareTools, logger },
    logger,
    onCutOff: () => cutOff++,
  });
  address = api.address;
  person = await signIn(address, await tokenOf('person'));
});
afterAll(async () => {
  await api.close();
});

const tokenOf = (name: string): Promise<string> =>
  createToken(opened.context, { name, scope: 'run', owner: name, accounts: null, expiresAt: null });

/** The head of a call, and the first byte of its body. */
function beginningOf(url: string, call: string, fields: Readonly<Record<string, string>>): string {
  const all = { Host: new URL(url).host, 'Content-Length': '1000', ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${call} HTTP/1.1\r\n${lines.join('')}\r\nx`;
}

/** Opens so many connections with the same bytes; they end with the test. */
async function attack(url: string, times: number, bytes: (index: number) => string) {
  const connections: RawConnection[] = [];
  for (let index = 0; index < times; index++) connections.push(await openRawConnection(url, bytes(index)));
  return {
    open: () => connections.filter(({ socket }) => !socket.destroyed).length,
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of connections) socket.destroy();
      await Promise.all(connections.map(({ ended }) => ended));
    },
  };
}

/** Statuses of the calls of others, on connections of their own. */
async function askAsOthers(): Promise<unknown> {
  const headers = { authorization: `Bearer ${await tokenOf(`other ${Math.random()}`)}`, connection: 'close' };
  const ask = async (path: string) => {
    const answer = await request(address + path, { headers, signal: AbortSignal.timeout(3_000) });
    await answer.body.dump();
    return answer.statusCode;
  };
  return [await ask('/api/v1/runs'), await ask('/sign-in'), (await person.get('/zone')).status];
}

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';

describe('bodies that do not end', () => {
  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST'])(
    'of 260 %s calls of an unknown path keep no caller from the API and the dashboard',
    async (method) => {
      const fields = { 'Content-Type': form, Origin: address };
      await using _ = await attack(address, 260, () => beginningOf(address, `${method} /x`, fields));
      expect(await askAsOthers()).toEqual([200, 200, 200]);
    },
  );

  test('of unknown paths are answered 404 before they have arrived', async () => {
    const Authorization = `Bearer ${await tokenOf('mistaken')}`;
    const calls = [
      ['PUT /x', { Origin: address, 'Content-Type': form }],
      ['PUT /api/v1/x', { Authorization, 'Content-Type': json }],
    ] as const;
    for (const [call, fields] of calls) {
      const { socket, received } = await openRawConnection(address, beginningOf(address, call, fields));
      await expect.poll(received).toMatch(/^HTTP\/1.1 404 /);
      socket.destroy();
    }
  });

  test('of 300 calls with a valid token keep no other token out, and are no errors in the log', async () => {
    const Authorization = `Bearer ${await tokenOf('slow')}`;
    const fields = { Authorization, 'Content-Type': json };
    cutOff = 0;
    await using slow = await attack(address, 300, () => beginningOf(address, 'POST /api/v1/runs', fields));
    expect(await askAsOthers()).toEqual([200, 200, 200]);
    await expect.poll(slow.open, { timeout: 20_000 }).toBe(20);
    await expect.poll(() => cutOff, { timeout: 20_000 }).toBe(280);
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, caller: 'token slow' }),
    ]);
    logged.length = 0;
  });

  test('of 300 forms of one session keep no other person out', async () => {
    const { cookies } = await signIn(address, await tokenOf('slow person'));
    const fields = { Cookie: cookies(), Origin: address, 'Content-Type': form };
    await using slow = await attack(address, 300, () => beginningOf(address, 'POST /zone', fields));
    expect(await askAsOthers()).toEqual([200, 200, 200]);
    await expect.poll(slow.open, { timeout: 20_000 }).toBe(20);
  });

  test('of twelve tokens end with the one that arrives longest, once all connections are in use', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, index) => tokenOf(`slow ${index}`)));
    const headOf = (index: number): string =>
      beginningOf(address, 'POST /api/v1/runs', {
        Authorization: `Bearer ${tokens[index % 12]}`,
        'Content-Type': json,
      });
    await using slow = await attack(address, 240, headOf);
    expect(await askAsOthers()).toEqual([200, 200, 200]);
    expect(slow.open()).toBeGreaterThan(150);
  });

  test('of 1,100 calls with the token of one account keep no delivery report out', async () => {
    const options = receiverOptions(opened, { main: '', other: '' });
    const receiver = await startReceiver(opened.context, options);
    const path = `/webhook/main/${webhookToken}`;
    const report = async (account: string): Promise<number> => {
      const url = `${receiver.url}/webhook/${account}/${webhookToken}`;
      const headers = { connection: 'close' };
      const signal = AbortSignal.timeout(3_000);
      const answer = await request(url, { method: 'POST', body: '{}', headers, signal });
      await answer.body.dump();
      return answer.statusCode;
    };
    {
      const bytes = beginningOf(receiver.url, `POST ${path}`, {});
      await using slow = await attack(receiver.url, 1_100, () => bytes);
      expect([await report('other'), await report('main')]).toEqual([200, 200]);
      await expect.poll(slow.open).toBeLessThanOrEqual(200);
    }
    await receiver.close();
  });

  test('of 150 calls keep no caller from the paths of monitoring', async () => {
    const operations = {
      readiness: async () => ({ ready: true, problems: [], warnings: [] }),
      metrics: async () => ({ contentType: 'text/plain', text: '' }),
    };
    const monitoring = await startOperations(operations, { host: '127.0.0.1', port: 0 }, []);
    {
      await using _ = await attack(monitoring.url, 150, () =>
        beginningOf(monitoring.url, 'PUT /x', { 'Content-Type': form }),
      );
      const signal = AbortSignal.timeout(3_000);
      for (const path of ['/healthz', '/readyz'])
        expect((await fetch(monitoring.url + path, { signal })).status).toBe(200);
    }
    await monitoring.close();
  });
});
