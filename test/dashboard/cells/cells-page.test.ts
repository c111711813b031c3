import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { findProblems } from '../../support/accessibility.ts';
import { reportRecipients } from '../../support/billing-reports.ts';
import { awayUrl, cellsYaml, useCells } from '../../support/cells-scene.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';

const cells = useCells();
let scene: DashboardScene;
beforeAll(async () => {
  const createdAt = new Date('2026-11-02T08:00Z');
  const north = await cells.send('north', { run: '261102-aaaaa', account: 'alfa', createdAt });
  const south = await cells.send('south', { run: '261103-bbbbb', account: 'charlie', createdAt });
  for (const [world, account] of [
    [north, 'alfa'],
    [south, 'charlie'],
  ] as const) {
    const report = { outcome: 'delivered', units: '1', price: '0.1' } as const;
    await reportRecipients(world.ledger.pool, [{ ...report, recipient: 0 }], createdAt, account);
  }
  await addSuppressions(south.ledger.pool, [
    { channel: 'sms', address: '+61400000002', subAccount: '', reason: '', source: 'operator', createdAt },
  ]);
  const environment = { ...cells.environment, WEST_READ_URL: awayUrl, VOLLEY_ACCOUNTS: 'accounts.yaml' };
  scene = await openDashboardScene({ files: { 'cells.yaml': cellsYaml }, environment });
});
afterAll(() => scene[Symbol.asyncDispose]());

test('the page of the cells shows runs, the month and a person of all cells, and names the one that is away', async () => {
  const person = await scene.visitor('admin');
  const { status, text } = await person.get('/cells?month=2026-11&q=%2B61400000002');
  expect(status).toBe(200);
  expect(text).toContain('<a href="/cells" aria-current="page">Cells</a>');
  expect(text).toContain('Cell west is away, and what it knows is missing below');
  expect(text).toContain('href="https://north.example/runs/261102-aaaaa"');
  expect(text).toContain('href="https://south.example/runs/261103-bbbbb"');
  expect(/All cells, added up.*?<\/table>/s.exec(text)?.[0]).toMatch(/>20<.*>2<.*>0\.2</s);
  expect(text.match(/<td[^>]*>(?:<bdi>)?\+61400000002/g)).toHaveLength(2);
  expect(text).toContain('an operator');
  expect(text).not.toContain('its-password');
});

test('a number without a country code is explained in the form, and the cells are shown all the same', async () => {
  const person = await scene.visitor('admin');
  for (const number of ['0400000002', '0400-000-002']) {
    const { status, text } = await person.get(`/cells?month=2026-11&q=${number}`);
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`id="q-error"[^>]*>[^<]*${number}[^<]*is not a phone number`));
    expect(text).not.toContain('Cell north is away');
    expect(text).toContain('href="https://north.example/runs/261102-aaaaa"');
  }
});

test('other pages are answered while several persons wait for a cell that says nothing', async () => {
  await using silent = await openSilentPeer();
  const environment = { ...cells.environment, WEST_READ_URL: silent.url, VOLLEY_ACCOUNTS: 'accounts.yaml' };
  await using slow = await openDashboardScene({ files: { 'cells.yaml': cellsYaml }, environment });
  const person = await slow.visitor('admin');
  const waiting = Array.from({ length: 4 }, () => person.get('/cells'));
  await silent.connected;
  expect((await person.get('/recipients?q=%2B61400000002')).status).toBe(200);
  silent.close();
  await Promise.all(waiting);
});

test('a person with a token for some accounts does not see the cells', async () => {
  const person = await scene.visitor('admin', { accounts: ['sandbox'] });
  expect((await person.get('/cells')).status).toBe(403);
});

test('a person with a token of a lesser scope than admin sees neither the cells nor a link to them', async () => {
  const person = await scene.visitor('approve');
  expect((await person.get('/cells')).status).toBe(403);
  expect((await person.get('/')).text).not.toContain('href="/cells"');
});

test('the page of the cells has no problems of accessibility', async () => {
  const page = await scene.browse('/cells?month=2026-11&q=%2B61400000002');
  expect(await findProblems(page)).toEqual([]);
});

/** A server that takes connections and says nothing. */
async function openSilentPeer() {
  const sockets = new Set<Socket>();
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.add(socket);
    resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgres://volley:its-password@127.0.0.1:${address.port}/silent`,
    connected,
    close,
    [Symbol.asyncDispose]: async () => close(),
  };
}
