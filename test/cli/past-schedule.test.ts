import { expect, test } from 'vitest';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({
  'campaigns/night.yaml': `${smsCampaignYaml}schedule:\n  at: [2020-12-24T09:00, 2020-12-01T09:00]\n  timeZone: Pacific/Auckland\n`,
  'campaigns/contacts.csv': contactsCsv(3),
});

const past =
  'all 2 times are past, the last one is 2020-12-24 09:00 Pacific/Auckland, so the schedule starts no run';

test('check warns of a schedule whose times are all past, and refuses it with --strict', async () => {
  const checked = await scene.command(['plan', '--check', 'campaigns/night.yaml']);
  expect(checked.code).toBe(0);
  expect(checked.stderr).toMatch(new RegExp(`^Warning: campaigns/night\\.yaml:\\d+:7: ${past}$`, 'm'));
  const { code, stderr } = await scene.command(['plan', '--check', '--strict', 'campaigns/night.yaml']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(past)]);
});

test('plan warns of a schedule whose times are all past', async () => {
  const { code, stdout } = await scene.command(['plan', 'campaigns/night.yaml']);
  expect([code, stdout.replaceAll(/\s+/g, ' ')]).toEqual([0, expect.stringContaining(past)]);
});

test('schedule sync warns of a schedule whose times are all past', async () => {
  const { code, stderr } = await scene.command(['schedule', 'sync', '--campaigns', 'campaigns']);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`Warning: campaigns/night.yaml: ${past}`)]);
});
