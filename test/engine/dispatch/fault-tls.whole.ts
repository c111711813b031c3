import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { accountAt } from '../../support/execute.ts';
import { resetOnConnecting, stallOnConnecting } from '../../support/faults.ts';
import { acceptedAfter, type FaultyRuns, inDoubt, openFaultyRuns, sent } from '../../support/faulty-runs.ts';
import { listening } from '../../support/listening.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
/** Self-signed, for 127.0.0.1 only. */
const certificate = fixture('certificate');
const key = fixture('key');
const trusted = getCACertificates('default');

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());
afterEach(() => setDefaultCACertificates(trusted));

const trustTheCertificate = (): void => setDefaultCACertificates([...trusted, certificate]);

function startTls() {
  const server = createServer({ cert: certificate, key }, (client) => {
    const upstream = connect(runs.service.port, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.pipe(upstream).pipe(client);
  });
  return listening(server);
}

const failedWith = (detail: unknown) => {
  const words = expect.stringMatching(String(detail));
  return sent('failed', 0, ['retry', null, words], ['retry', null, words], ['failed', null, words]);
};

test('a request is accepted over TLS with a trusted certificate', async () => {
  trustTheCertificate();
  await using server = await startTls();
  expect(await runs.sendOne(accountAt(`https://127.0.0.1:${server.port}`))).toMatchObject(acceptedAfter());
});

test('a self-signed certificate fails the request before anything is sent', async () => {
  await using server = await startTls();
  expect(await runs.sendOne(accountAt(`https://127.0.0.1:${server.port}`))).toMatchObject(
    failedWith('^TLS failed: its certificate is self-signed \\(DEPTH_ZERO_SELF_SIGNED_CERT\\)$'),
  );
});

test('a certificate for another host name fails the request before anything is sent', async () => {
  trustTheCertificate();
  await using server = await startTls();
  expect(await runs.sendOne(accountAt(`https://localhost:${server.port}`))).toMatchObject(
    failedWith('^TLS failed: its certificate is for another host name \\(ERR_TLS_CERT_ALTNAME_INVALID\\)$'),
  );
});

test('a service without TLS at an https address fails the request before anything is sent', async () => {
  expect(await runs.sendOne(accountAt(`https://127.0.0.1:${runs.service.port}`))).toMatchObject(
    failedWith('^TLS failed.* \\(.+\\)$'),
  );
});

test('a request to a TLS port over plain HTTP is in doubt', async () => {
  await using server = await startTls();
  expect(await runs.sendOne(accountAt(`http://127.0.0.1:${server.port}`))).toMatchObject(
    inDoubt(null, expect.any(String), 0),
  );
});

test('a reset before the TLS handshake fails the request before anything is sent', async () => {
  await using proxy = await runs.proxyWith(resetOnConnecting, resetOnConnecting, resetOnConnecting);
  expect(await runs.sendOne(accountAt(`https://127.0.0.1:${proxy.port}`))).toMatchObject(
    failedWith('^connection reset$'),
  );
});

test('a TLS handshake that never ends fails the request before anything is sent', async () => {
  await using proxy = await runs.proxyWith(stallOnConnecting, stallOnConnecting, stallOnConnecting);
  const account = accountAt(`https://127.0.0.1:${proxy.port}`, { timeouts: { connect: 200 } });
  expect(await runs.sendOne(account)).toMatchObject(failedWith('^no connection in time$'));
});
