import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { plannedRun, waitForRunState } from '../support/planned-run.ts';

/** Opens in twelve hours. */
function farWindow(): { readonly yaml: string; readonly opens: Date } {
  const opens = new Date(Date.now() + 12 * 3_600_000);
  opens.setUTCMinutes(0, 0, 0);
  const hour = (hours: number): string => `${String(hours % 24).padStart(2, '0')}:00`;
  const from = opens.getUTCHours();
  return { opens, yaml: `window: { from: "${hour(from)}", to: "${hour(from + 1)}", timeZone: Etc/UTC }\n` };
}

test('a run outside its window says until when it waits, survives its process, and can be cancelled', async () => {
  await using scene = await openDispatchScene({ requests: 3, concurrency: 4 });
  const { yaml, opens } = farWindow();
  await scene.workspace.write('campaign.yaml', `${await scene.workspace.read('campaign.yaml')}${yaml}`);
  const time = opens.toISOString().slice(0, 16).replace('T', ' ');

  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await started.waitForText(`0/3 requests. Its window is closed. It opens at ${time}:00 UTC`);
  started.process.kill('SIGKILL');
  await started.ended;

  const resumed = scene.startHere(['resume', run]);
  await resumed.waitForText(`It opens at ${time}:00 UTC`);
  const { stdout } = await scene.runHere(['status', run]);
  expect(stdout).toContain(
    `  waiting     3 requests (6 recipients) for their window in Etc/UTC, until ${time} UTC\n`,
  );
  const { stdout: json } = await scene.runHere(['status', run, '--json']);
  expect(JSON.parse(json)).toMatchObject({
    state: 'running',
    waits: [{ timeZones: ['Etc/UTC'], until: opens.toISOString(), requests: 3, recipients: 6 }],
  });
  resumed.stop();
  expect((await resumed.ended).code).toBe(130);
  await waitForRunState(scene, run, 'paused');

  expect(await scene.runHere(['cancel', run])).toMatchObject({ code: 0 });
  expect((await scene.runHere(['status', run, '--json'])).stdout).toContain('"cancelled":3');
  expect(scene.peer.received()).toMatchObject({ requests: 0 });
});
