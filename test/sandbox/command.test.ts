import { expect, test } from 'vitest';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { credentialsFor, smallestMessage } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';
import { type Ended, type Started, startVolley, volleyInProcess } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { get, post } from './start-test-sandbox.ts';
import { webhookReceiver } from './webhook-receiver.ts';

function ended({ process, ended }: Started): Promise<Ended> {
  process.kill('SIGINT');
  return ended;
}

test('volley sandbox serves every interface, reports in the requested format, and ends with Ctrl-C', async () => {
  await using workspace = await makeWorkspace();
  await using hook = await webhookReceiver();
  await workspace.write('token', 'a-token\n');
  const webhook = [`--webhook-url=${hook.url}/{token}`, '--webhook-token-file', 'token'];
  const flags = ['--port', '0', '--journal', 'journal.jsonl', ...webhook];
  const sandbox = startVolley(['sandbox', ...flags, '--webhook-format', 'xml'], { cwd: workspace.folder });
  using _ = { [Symbol.dispose]: () => void sandbox.process.kill() };
  await sandbox.waitForText('listens on');
  const [url = ''] = /http:\/\/[\d.:]+/.exec(sandbox.stderrSoFar()) ?? [];

  const message = smallestMessage('rest-2.02', 'sms');
  const { path, headers, body } = rest202Json.encodeSendRequest(
    outgoing(message),
    credentialsFor('rest-2.02'),
  );
  expect(await post(url + path, body, { ...headers })).toMatchObject({ status: 200 });
  expect(await get(`${url}/?wsdl`)).toMatchObject({ status: 200 });
  expect(await get(`${url}/api/v2.02/get/status/M1`, { ...headers })).toMatchObject({ status: 200 });
  await expect
    .poll(() => hook.bodies.map(String))
    .toEqual([expect.stringContaining('<DeliveryReport><Version>v2.02</Version><Type>SMS</Type>')]);

  expect(await ended(sandbox)).toMatchObject({ code: 0 });
  const lines = (await workspace.read('journal.jsonl')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ messageId: 'M1', status: 200 }]);
});

test('volley sandbox refuses a token without a place in the address, and a missing file of it, with exit code 2', async () => {
  const call = (url: string) =>
    volleyInProcess(['sandbox', '--port', '0', `--webhook-url=${url}`, '--webhook-token-file', '/nowhere']);
  expect(await call('http://127.0.0.1:1/hook')).toMatchObject({
    code: 2,
    stderr: '--webhook-token-file: Expected --webhook-url with {token} in it.\n',
  });
  expect(await call('http://127.0.0.1:1/{token}')).toMatchObject({
    code: 2,
    stderr: '--webhook-token-file: The file /nowhere cannot be read (it does not exist).\n',
  });
});

test('volley sandbox refuses an unknown format with exit code 2', async () => {
  const { code, stderr } = await volleyInProcess(['sandbox', '--port', '0', '--webhook-format', 'csv']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('json, xml, post or get') });
});

test('volley sandbox refuses one half of a credential pair with exit code 2', async () => {
  const { code, stderr } = await volleyInProcess(['sandbox', '--port', '0', '--webhook-sender', 'ann']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--webhook-api-key') });
});

test('volley sandbox --help names every interface', async () => {
  const { code, stdout } = await volleyInProcess(['sandbox', '--help']);
  expect(code).toBe(0);
  for (const words of ['/api/v2.02/send/', '/api/json/send/', '/api/xml/send/', '?wsdl', '/get/status/']) {
    expect(stdout).toContain(words);
  }
});
