import { expect, test } from 'vitest';
import { askWhilePlanning, heavyCampaign } from '../support/ask-while-planning.ts';

test('serve answers calls while it reads a large campaign', async () => {
  const { status, health } = await askWhilePlanning('heavy.yaml', {
    'campaigns/heavy.yaml': heavyCampaign(5_000),
  });
  expect(status).toBe(422);
  // A process without a planning thread would answer only before and after.
  expect(health.length).toBeGreaterThan(8);
});
