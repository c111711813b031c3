import { expect, test } from 'vitest';
import { askWhilePlanning, heavyCampaign } from '../support/ask-while-planning.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

/** Milliseconds. */
const promised = 100;

const wide = (): string => {
  const names = Array.from({ length: 1_990 }, (_, index) => `c${index}`).join(',');
  const row = (index: number): string => `0412${String(index).padStart(6, '0')},Ann,x,${','.repeat(1_989)}`;
  return [`mobile,name,code,${names}`, ...Array.from({ length: 3_000 }, (_, index) => row(index)), ''].join(
    '\n',
  );
};

test.each([
  ['9,900 unknown keys', { 'campaigns/it.yaml': heavyCampaign(9_900) }, 422],
  [
    '1,993 columns and 3,000 rows',
    { 'campaigns/it.yaml': smsCampaignYaml, 'campaigns/contacts.csv': wide() },
    202,
  ],
  [
    '200,000 contacts',
    { 'campaigns/it.yaml': smsCampaignYaml, 'campaigns/contacts.csv': contactsCsv(200_000) },
    202,
  ],
])('while serve plans %s, healthz answers within 100 ms', async (_, files, expected) => {
  const { status, planning, health, idle } = await askWhilePlanning('it.yaml', files, 1_000);
  const slowest = Math.max(...health);
  const slowestIdle = Math.max(...idle);
  console.log(
    `planned in ${Math.round(planning)} ms, ${health.length} answers, the slowest in ${Math.round(slowest)} ms; before that in ${Math.round(slowestIdle)} ms`,
  );
  expect(status).toBe(expected);
  // Other programs slow the machine, too.
  expect(slowest).toBeLessThan(promised + slowestIdle);
});
