import { expect, test } from 'vitest';
import { textPeer } from '../gateway/test-peers.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { contactsCsv, noRepeatCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({
  'campaign.yaml': noRepeatCampaignYaml,
  'contacts.csv': contactsCsv(122),
});

async function webServer() {
  return textPeer((_, response) => {
    response.writeHead(404, { 'Content-Type': 'text/html' });
    response.end('<html><head><title>404 Not Found</title></head></html>');
  });
}

test('an operator sees why a run with a wrong address is in doubt, and decides about all of it by its answer', async () => {
  await using server = await webServer();
  const command = (...words: string[]) => scene.command(words, { env: { VOLLEY_SANDBOX_URL: server.url } });
  const checked = await command('plan', '--check', 'campaign.yaml');
  expect([checked.code, checked.stderr]).toEqual([
    0,
    expect.stringMatching(
      /Warning: account sandbox: What answers at \S+ is not the interface .*HTTP 404, text\/html/,
    ),
  ]);
  expect((await command('plan', '--check', '--strict', 'campaign.yaml')).code).toBe(2);

  const ran = await command('run', 'campaign.yaml');
  expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining(`${server.url}/api/v2.02/send/sms`)]);
  expect(ran.stdout).toMatch(/requests +122: 102 planned, 20 in doubt/);
  expect(ran.stdout).toContain('because     20 in doubt: HTTP 404, text/html');
  const status = await command('status', 'latest');
  expect(status.stdout).toContain('because     20 in doubt: HTTP 404, text/html');
  expect(status.stdout).toContain('<title>404 Not Found');

  await command('cancel', 'latest', '--reason', 'wrong address');
  const again = await command('run', 'campaign.yaml');
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('In doubt: 20 of its 122 requests. `volley resolve');
  expect(again.stderr).toContain('--state cancelled`');
  const resolved = await command('resolve', 'latest', '--answer', 'HTTP 404', '--abandon', '--reason', 'no');
  expect([resolved.code, resolved.stdout]).toEqual([
    0,
    expect.stringContaining('20 requests with 20 recipients: abandoned'),
  ]);
});

test('check says that the service cannot be reached, and refuses that only with --strict', async () => {
  const command = (...words: string[]) =>
    scene.command(words, { env: { VOLLEY_SANDBOX_URL: 'https://volley.invalid' } });
  const { code, stdout, stderr } = await command('plan', '--check', 'campaign.yaml');
  expect([code, stdout]).toEqual([0, expect.stringContaining('is valid')]);
  expect(stderr).toContain('Warning: account sandbox: It cannot be reached');
  expect((await command('plan', '--check', '--strict', 'campaign.yaml')).code).toBe(2);
});
