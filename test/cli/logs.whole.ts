import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { openTestLedger } from '../support/ledger.ts';
import { listening } from '../support/listening.ts';
import { type Started, startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** Texts that errors could quote and a log must not contain. */
const secrets = {
  SEND_TOKEN: 'planted-send-token-4711-of-the-account',
  HOOK: 'planted-webhook-token-4711-long-enough',
  PASSWORD: 'planted-password-4711',
};
const addresses = ['+61412345678', '61412345678', '0412345678', '0412 345 678', 'zoe.planted@example.com'];
const names = ['Zoë Planted', 'Planted'];

const accounts = `accounts:
  main:
    interface: rest-2.02
    baseUrl: \${SERVICE}
    authToken: \${SEND_TOKEN}
    webhookToken: \${HOOK}
    receiver: { trustedProxies: [127.0.0.1], basic: { user: volley, password: "\${PASSWORD}" } }
    statusLookUp: on
    timeouts: { connect: 1s, headers: 2s, body: 2s }
  keyless: { interface: rest-2.02, baseUrl: "http://127.0.0.1:9", authToken: "\${NOT_SET}" }
`;

const campaign = (name: string, contacts: string, account: string, schedule: string) => `campaign: ${name}
account: ${account}
channel: sms
contacts: { file: ${contacts}, country: AU, columns: { Recipient: mobile } }
message: { Message: "Hello [[name]]" }
dispatch: { chunkSize: 1, concurrency: 1, retries: 1 }
${schedule}`;

const contact = `mobile,name
0412 345 678,Zoë Planted
0412345679,Zoë Planted
0412345670,Zoë Planted
0412345671,Zoë Planted
`;

/** A service that refuses in every way, and quotes the request. */
async function startQuotingService(cleanUp: AsyncDisposableStack) {
  const statuses = [400, 500, 200, 401];
  let calls = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const quoted = `${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`;
    if (request.method === 'POST') calls++;
    response.statusCode = statuses[(calls - 1) % statuses.length] ?? 500;
    response.end(`${addresses.join(' ')} ${names.join(' ')} ${quoted}`);
  };
  const server = cleanUp.use(
    await listening(createServer((request, response) => void answer(request, response))),
  );
  return { url: `http://127.0.0.1:${server.port}`, calls: () => calls };
}

/** Sends delivery reports and replies with planted texts, then calls without permission. */
async function callInEveryWay(base: string): Promise<void> {
  const authorization = `Basic ${btoa(`volley:${secrets.PASSWORD}`)}`;
  const inbound = { Destination: addresses[0], Status: 'SUCCESS', MessageID: names[0], Result: addresses[4] };
  const bodies = [
    JSON.stringify(inbound),
    JSON.stringify({ ...inbound, Price: names[0], SentTimeUTC: names[0] }),
    JSON.stringify({ Type: 'SMSInbound', Destination: addresses[0], Message: `STOP ${names[0]}\0` }),
    `{${addresses.join()} ${secrets.PASSWORD}`,
    `<a>${names[0]}\0</a>`,
  ];
  const hostile = [
    `/webhook/main/${secrets.HOOK}x`,
    `/webhook/${secrets.HOOK}/main`,
    `/${secrets.HOOK}/${addresses[4]}`,
    `/webhook/main/%zz${secrets.HOOK}`,
    `/webhook/${names[1]}/${addresses[0]}?${secrets.PASSWORD}`,
  ];
  // An address is logged once a minute.
  let caller = 0;
  const post = async (path: string, body: string, given: Record<string, string>): Promise<number> => {
    const headers = { ...given, 'x-forwarded-for': `198.51.100.${++caller}` };
    const answer = await fetch(base + path, { method: 'POST', body, headers });
    await answer.text();
    return answer.status;
  };
  for (const body of bodies)
    expect(await post(`/webhook/main/${secrets.HOOK}`, body, { authorization })).toBe(200);
  for (const path of hostile) expect(await post(path, bodies[0] ?? '', { authorization })).toBe(404);
  expect(await post(`/webhook/main/${secrets.HOOK}`, '{}', { authorization: secrets.PASSWORD })).toBe(404);
}

function expectNothingPlanted(log: string, url: string): void {
  const { username, password } = new URL(url);
  const planted = [...Object.values(secrets), ...addresses, ...names, password, `${username}:`];
  for (const each of planted.filter((text) => text.length > 1)) expect(log).not.toContain(each);
}

function makeFailingProject(): ReturnType<typeof makeWorkspace> {
  const past = 'schedule: { cron: "* * * * *", timeZone: UTC, catchUp: 2h }\n';
  return makeWorkspace({
    'accounts.yaml': accounts,
    'campaigns/contacts.csv': contact,
    'campaigns/good.yaml': campaign('good', 'contacts.csv', 'main', past),
    'campaigns/bad-rows.yaml': campaign('bad-rows', 'bad.csv', 'main', past),
    'campaigns/bad.csv': `mobile,name\n"${addresses[3]} and ${addresses[4]}",Zoë Planted\n`,
    // The reason quotes the invalid code.
    'campaigns/no-code.yaml': `${campaign('no-code', 'contacts.csv', 'main', past).replace('[[name]]" }', 'you", ChargeCode: "[[name]]" }')}chargeCodes: codes.csv\n`,
    'campaigns/codes.csv': 'NET-2600\n',
    'campaigns/keyless.yaml': campaign('keyless', 'contacts.csv', 'keyless', past),
    'campaigns/broken.yaml': `schedule:\n  ${addresses[0]} ${addresses[4]}: [\n`,
  });
}

test('log lines at info and warn contain no secret, address or name, after any failure', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const ledger = await openTestLedger();
  cleanUp.defer(() => ledger.close());
  const service = await startQuotingService(cleanUp);
  const { pool } = ledger.ledger;
  const workspace = cleanUp.use(await makeFailingProject());
  const port = await freePort();
  const env = {
    DATABASE_URL: ledger.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    SERVICE: service.url,
    ...secrets,
  };
  const start = (words: readonly string[], level: string): Started => {
    const started = startVolley(words, { cwd: workspace.folder, env: { ...env, LOG_LEVEL: level } });
    cleanUp.defer(() => void started.process.kill('SIGKILL'));
    return started;
  };
  const serve = start(['serve', '--no-api', '--port', String(port)], 'warn');
  // Two minutes of each schedule are due, so the next process starts runs at once.
  while ((await pool.query('SELECT FROM schedules')).rowCount !== 4) await sleep(20);
  await pool.query(`UPDATE schedules SET recorded_until = now() - interval '2 minutes'`);
  const worker = start(['worker'], 'info');
  await callInEveryWay(`http://127.0.0.1:${port}`);
  await worker.waitForText('scheduled run');
  while (service.calls() < 4) await sleep(20);
  while (!`${serve.stderrSoFar()}${worker.stderrSoFar()}`.includes('run stopped; see')) await sleep(20);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('volley_delivery_reports_stored_total{account="main"} 5');
  await ledger.dropDatabase();
  const authorization = `Basic ${btoa(`volley:${secrets.PASSWORD}`)}`;
  const report = fetch(`http://127.0.0.1:${port}/webhook/main/${secrets.HOOK}?Destination=${addresses[1]}`, {
    headers: { authorization },
  });
  await serve.waitForText('database outage');
  await worker.waitForText('database outage');
  expect((await report).status).toBe(503);
  for (const { process } of [serve, worker]) process.kill('SIGINT');
  // The second signal ends the process at once, because nothing can be recorded.
  await sleep(600);
  for (const { process } of [serve, worker]) process.kill('SIGINT');
  const ended = await Promise.all([serve.ended, worker.ended]);

  const log = ended.map(({ stderr }) => stderr).join('');
  expectNothingPlanted(log + metrics, ledger.url);
  for (const said of [
    'call refused',
    'delivery report not stored',
    'database outage',
    'request in doubt',
    '"messageId":"',
    'scheduled run failed',
    'schedule unreadable',
    'run stopped; see',
    '"check":"path"',
  ])
    expect(log).toContain(said);
});
