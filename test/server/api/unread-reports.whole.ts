import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import { bareTools, openBareDashboard } from '../../support/bare-dashboard.ts';
import { signIn } from '../../support/dashboard-scene.ts';
import { openRawConnection, type RawConnection } from '../../support/raw-http.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let api: Awaited<ReturnType<typeof openBareDashboard>>;
let largeRun: string;
let smallRun: string;
let failedRun: string;
const logged: string[] = [];
/** Milliseconds. Some tests wait for these. */
const times = { whole: 9_000, unread: 3_000, unreadWhileOthersWait: 1_000 };

beforeAll(async () => {
  largeRun = await planRunInDoubt(opened.ledger, { requests: 500 });
  // 30 MB, more than the kernel keeps for a caller that does not read.
  await opened.ledger.pool.query(`UPDATE requests SET state = 'accepted'`);
  await opened.ledger.pool.query(
    `INSERT INTO unusual_delivery_reports (report_id, account, received_at, state, status, run_id, request, position)
     SELECT request, 'test', now(), 'applied', repeat('pending ', 7500), run_id, request, 1 FROM requests`,
  );
  failedRun = await planRunInDoubt(opened.ledger, { requests: 500 });
  await opened.ledger.pool.query(
    `UPDATE requests SET reason = to_jsonb(repeat('no answer ', 6000)) WHERE state = 'in_doubt'`,
  );
  smallRun = await planRunInDoubt(opened.ledger);
  const logger = openLogger('info', 'info', { write: (line) => void logged.push(line) });
  api = await openBareDashboard(opened.context, {
    api: { ...bareTools, logger },
    logger,
    reportTimes: times,
  });
});
afterAll(async () => {
  await api.close();
});

afterEach(() => expect.poll(countSnapshots).toBe(0));

const tokenOf = (name: string): Promise<string> =>
  createToken(opened.context, { name, scope: 'admin', owner: name, accounts: null, expiresAt: null });

const reportOf = (run: string): string => `/api/v1/reports/missing?run=${run}`;

async function ask(token: string, path = reportOf(smallRun)): Promise<{ status: number; text: string }> {
  const answer = await fetch(api.listener + path, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, text: await answer.text() };
}

/** Asks for a report, and reads nothing after its first bytes. */
async function askUnread(token: string, path = reportOf(largeRun)): Promise<RawConnection> {
  const fields = `Host: ${new URL(api.listener).host}\r\nAuthorization: Bearer ${token}\r\n`;
  const connection = await openRawConnection(api.listener, `GET ${path} HTTP/1.1\r\n${fields}\r\n`);
  await expect.poll(connection.received).toMatch(/^HTTP\/1.1 200 /);
  connection.socket.pause();
  return connection;
}

async function countSnapshots(): Promise<number> {
  const { rows } = await opened.ledger.pool.query<{ open: number }>(
    `SELECT count(*)::integer AS open FROM pg_stat_activity
     WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`,
  );
  return rows[0]?.open ?? 0;
}

const failuresOf = (run: string): string => `/api/v1/runs/${run}/failures`;

test('a list of failures that its caller does not read holds no transaction', async () => {
  const { socket } = await askUnread(await tokenOf('slow 9'), failuresOf(failedRun));
  await expect.poll(countSnapshots).toBe(0);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

describe('reports that their caller does not read', () => {
  test('of one token hold one place, so that the next caller has its report', async () => {
    const [slow, other] = [await tokenOf('slow'), await tokenOf('other')];
    const unread = await askUnread(slow);
    const second = await ask(slow);
    expect([second.status, second.text]).toEqual([
      503,
      expect.stringContaining('Another report of this token'),
    ]);
    expect((await ask(other)).status).toBe(200);
    unread.socket.destroy();
  });

  test('end soon, and their transactions with them', async () => {
    const tokens = [await tokenOf('slow 1'), await tokenOf('slow 2')];
    const unread = await Promise.all(tokens.map((token) => askUnread(token)));
    expect(await countSnapshots()).toBe(2);
    await expect.poll(countSnapshots, { timeout: 10_000 }).toBe(0);
    for (const { socket } of unread) socket.destroy();
    expect(logged.join('')).toContain('its caller took nothing of it for 3 seconds');
    expect(logged.join('')).not.toContain('failed');
  });

  test('end sooner while another caller waits for a report', async () => {
    const tokens = [await tokenOf('slow 5'), await tokenOf('slow 6')];
    const unread = await Promise.all(tokens.map((token) => askUnread(token)));
    const waiting = await tokenOf('waiting');
    await expect.poll(async () => (await ask(waiting)).status).toBe(200);
    expect(logged.join('')).toContain('its caller took nothing of it for 1 seconds');
    for (const { socket } of unread) socket.destroy();
  });

  test('are not ended while they are read, but end as a whole after their time', async () => {
    const { socket, ended } = await askUnread(await tokenOf('trickling'));
    socket.on('data', () => socket.pause());
    const reading = setInterval(() => socket.resume(), 25);
    await expect.poll(countSnapshots, { timeout: 20_000 }).toBe(0);
    clearInterval(reading);
    expect(logged.at(-1)).toContain('its caller had not read all of it in 9 seconds');
    socket.removeAllListeners('data').resume();
    expect((await ended).endsWith('0\r\n\r\n')).toBe(false);
  });

  test('do not hold up the list of failures, of the same token too, which needs no snapshot', async () => {
    const [first, second] = [await tokenOf('slow 7'), await tokenOf('slow 8')];
    const unread = await Promise.all([askUnread(first), askUnread(second)]);
    const list = await ask(first, failuresOf(smallRun));
    expect([list.status, list.text]).toEqual([200, expect.stringContaining('1 request')]);
    const person = await signIn(api.address, second);
    expect((await person.get(`/runs/${smallRun}/download/failures?format=json`)).status).toBe(200);
    for (const { socket } of unread) socket.destroy();
  });

  test('do not hold up the audit trail, which needs no snapshot', async () => {
    const tokens = [await tokenOf('slow 3'), await tokenOf('slow 4')];
    const unread = await Promise.all(tokens.map((token) => askUnread(token)));
    const person = await signIn(api.address, await tokenOf('person'));
    expect((await person.get('/audit/download?format=csv')).status).toBe(200);
    for (const { socket } of unread) socket.destroy();
  });
});
