import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/engine/access/tokens.ts';
import { signIn, type Visitor } from '../support/dashboard-scene.ts';
import { freePort } from '../support/free-port.ts';
import '../support/localhost-names.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { readMetrics } from '../support/metrics.ts';
import { openRawConnection } from '../support/raw-http.ts';
import { planRunInDoubt } from '../support/run-in-doubt.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** Milliseconds. */
const promised = 200;
const attackTime = 20_000;
const reopenTime = 1_000;

const webhookToken = 'a-token-of-at-least-22-characters';
const account = (name: string): string =>
  `  ${name}: { interface: rest-2.02, baseUrl: "http://127.0.0.1:9", authToken: "\${TOKEN}", webhookToken: "\${TOKEN}" }\n`;

const cleanUp = new AsyncDisposableStack();
let opened: TestLedger;
let receiver: string;
let api: string;
let person: Visitor;
let run: string;
let smallRun: string;
/** Of the first test, without an attacker. */
let idle: number | undefined;
beforeAll(async () => {
  opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  run = await planRunInDoubt(opened.ledger, { requests: 500 });
  // 30 MB of missing reports, more than the kernel keeps for a caller that does not read.
  await opened.ledger.pool.query(`UPDATE requests SET state = 'accepted'`);
  await opened.ledger.pool.query(
    `INSERT INTO unusual_delivery_reports (report_id, account, received_at, state, status, run_id, request, position)
     SELECT request, 'test', now(), 'applied', repeat('pending ', 7500), run_id, request, 1 FROM requests`,
  );
  smallRun = await planRunInDoubt(opened.ledger);
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': `accounts:\n${account('main')}${account('other')}`,
      'campaigns/.keep': '',
    }),
  );
  const [port, apiPort] = [await freePort(), await freePort()];
  const serve = startVolley(['serve', '--no-worker', '--port', String(port), '--api-port', String(apiPort)], {
    cwd: workspace.folder,
    env: { DATABASE_URL: opened.url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: webhookToken },
  });
  cleanUp.defer(async () => {
    serve.process.kill('SIGTERM');
    await serve.ended;
  });
  await serve.waitForText('Dashboard: ');
  const dashboard = /^Dashboard: (\S+)\/$/m.exec(serve.stderrSoFar())?.[1];
  [receiver, api] = [`http://127.0.0.1:${port}`, dashboard ?? ''];
  person = await signIn(api, await tokenOf('person'));
});
afterAll(() => cleanUp.disposeAsync());

const tokenOf = (name: string): Promise<string> =>
  createToken(opened.context, { name, scope: 'run', owner: name, accounts: null, expiresAt: null });

type Attack = { readonly url: string; readonly connections: number; readonly bytes: string };

const unfinished = (url: string, call: string, ...fields: readonly string[]): string =>
  [`${call} HTTP/1.1`, `Host: ${new URL(url).host}`, ...fields, 'Content-Length: 1000', '', 'x'].join('\r\n');

const attacks: Readonly<Record<string, () => Promise<readonly Attack[]>>> = {
  'no attacker': async () => [],
  '260 unfinished PUT calls of an unknown path, without signing in': async () => {
    const form = ['Content-Type: application/x-www-form-urlencoded', `Origin: ${api}`];
    return [{ url: api, connections: 260, bytes: unfinished(api, 'PUT /x', ...form) }];
  },
  '300 unfinished calls with a valid token': async () => {
    const fields = [`Authorization: Bearer ${await tokenOf('slow')}`, 'Content-Type: application/json'];
    return [{ url: api, connections: 300, bytes: unfinished(api, 'POST /api/v1/runs', ...fields) }];
  },
  '300 unfinished forms of one session': async () => {
    const { cookies } = await signIn(api, await tokenOf('slow person'));
    const form = [
      'Content-Type: application/x-www-form-urlencoded',
      `Origin: ${api}`,
      `Cookie: ${cookies()}`,
    ];
    return [{ url: api, connections: 300, bytes: unfinished(api, 'POST /zone', ...form) }];
  },
  '1,100 unfinished delivery reports of one account': async () => {
    const bytes = unfinished(receiver, `POST /webhook/main/${webhookToken}`);
    return [{ url: receiver, connections: 1_100, bytes }];
  },
  'two reports that their callers do not read': async () => {
    const tokens = await Promise.all(['reader 1', 'reader 2'].map(tokenOf));
    return tokens.map((token) => {
      const fields = `Host: ${new URL(api).host}\r\nAuthorization: Bearer ${token}\r\n`;
      const bytes = `GET /api/v1/reports/missing?run=${run} HTTP/1.1\r\n${fields}\r\n`;
      return { url: api, connections: 1, bytes };
    });
  },
};

/** Keeps so many connections open, and opens each again within a second of its end. */
async function keepAttacking({ url, connections, bytes }: Attack, stop: AbortSignal): Promise<void> {
  let open: Socket[] = [];
  while (!stop.aborted) {
    open = open.filter(({ destroyed }) => !destroyed);
    while (open.length < connections && !stop.aborted) {
      const { socket } = await openRawConnection(url, bytes);
      // Reads nothing, as far as the kernel allows.
      open.push(socket.pause());
    }
    await sleep(reopenTime);
  }
  for (const socket of open) socket.destroy();
}

/** @returns milliseconds, or undefined without an answer of 200 */
async function measure(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const begun = performance.now();
  try {
    const answer = await request(url, {
      method: url.includes('/webhook/') ? 'POST' : 'GET',
      headers: { ...headers, connection: 'close' },
      signal: AbortSignal.timeout(5_000),
    });
    await answer.body.dump();
    return answer.statusCode === 200 ? performance.now() - begun : undefined;
  } catch {
    return undefined;
  }
}

const at = (times: readonly number[], share: number): number =>
  Math.round(times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)] ?? 0);

test.each(Object.keys(attacks))(
  'while %s holds connections, healthz and a page answer within 200 ms',
  async (name) => {
    const others = { authorization: `Bearer ${await tokenOf(`other ${name}`)}` };
    const stop = new AbortController();
    const attacking = (await attacks[name]?.())?.map((attack) => keepAttacking(attack, stop.signal));
    const asked = [
      ['healthz', `${receiver}/healthz`, {}],
      ['page', `${api}/`, { cookie: person.cookies() }],
      ['runs', `${api}/api/v1/runs`, others],
      ['report', `${api}/api/v1/reports/missing?run=${smallRun}`, others],
      ['delivery report of another account', `${receiver}/webhook/other/${webhookToken}`, {}],
    ] as const;
    const times = new Map<string, number[]>();
    const refused = new Map<string, number>();
    let memory = 0;
    await sleep(2_000);
    const end = performance.now() + attackTime;
    while (performance.now() < end) {
      for (const [what, url, headers] of asked) {
        const time = await measure(url, headers);
        if (time === undefined) refused.set(what, (refused.get(what) ?? 0) + 1);
        else times.set(what, [...(times.get(what) ?? []), time]);
      }
      const figures = await readMetrics(receiver);
      memory = Math.max(memory, figures.get('process_resident_memory_bytes') ?? 0);
      await sleep(20);
    }
    stop.abort();
    await Promise.all(attacking ?? []);
    const p95 = (what: string): number => at(times.get(what) ?? [], 0.95);
    const shown = [...times].map(([what, all]) => {
      const figures = `${at(all, 0.5)} ms, p95 ${at(all, 0.95)} ms, slowest ${at(all, 1)} ms`;
      return [what, `${all.length} answers, median ${figures}; ${refused.get(what) ?? 0} refused`];
    });
    console.log(name, { ...Object.fromEntries(shown), memory: `${Math.round(memory / 1024 ** 2)} MiB` });
    // A report is refused while the places of reports are in use.
    expect([...refused.keys()].filter((what) => what !== 'report')).toEqual([]);
    expect(times.get('report')).not.toBeUndefined();
    // Other programs slow the machine, too.
    idle ??= Math.max(p95('healthz'), p95('page'));
    expect(p95('healthz')).toBeLessThan(promised + idle);
    expect(p95('page')).toBeLessThan(promised + idle);
  },
);
