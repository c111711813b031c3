import { describe, expect, test } from 'vitest';
import type { GuardSettings } from '../../src/decisions/guard.ts';
import type { Usual } from '../../src/decisions/undelivered.ts';
import { reportDelays, type SimulatedCampaign, simulateGuard } from '../support/simulate-guard.ts';

/** How often a guard stops healthy runs, and misses falls: a thousand seeded campaigns of each kind. */
const campaigns = Number(process.env['VOLLEY_GUARD_CAMPAIGNS'] ?? 1_000);

const places = [
  { name: '+61412', part: 0.1 },
  { name: '+61413', part: 0.3 },
  { name: '+64211', part: 0.4 },
  { name: '', part: 0.2 },
];

const usual: Usual = {
  source: 'campaign',
  whole: { events: 2_000, trials: 100_000 },
  at: Object.fromEntries(places.map(({ name }) => [name, { events: 200, trials: 10_000 }])),
};

const settings: GuardSettings = {
  undelivered: { above: 0.05, usual: true },
  silence: 1_200_000,
  first: 20,
  action: 'pause',
};

const campaign = { recipients: 10_000, destinations: places, settings, usual, perLook: 100 };

const play = (changes: Pick<SimulatedCampaign, 'delays' | 'undelivered'>) =>
  Array.from({ length: campaigns }, (_, seed) => simulateGuard({ ...campaign, ...changes, seed: seed + 1 }));

describe.each(Object.entries(reportDelays))('with reports that come %s', (kind, delays) => {
  test('at most one of a hundred healthy runs is stopped', () => {
    for (const share of [0.02, 0.04]) {
      const stopped = play({ delays, undelivered: () => share }).filter((each) => each !== undefined).length;
      console.log(`${kind}, ${share * 100} % undelivered: ${stopped} of ${campaigns} stopped`);
      expect(stopped).toBeLessThanOrEqual(campaigns / 100);
    }
  });

  test('a fall from 98 % to 60 % at one destination is found', () => {
    const undelivered = (destination: string) => (destination === '+61412' ? 0.4 : 0.02);
    const found = play({ delays, undelivered }).map((each) => each?.sent ?? Number.POSITIVE_INFINITY);
    const sorted = found.toSorted((one, other) => one - other);
    const missed = found.filter((sent) => sent === Number.POSITIVE_INFINITY).length;
    const at = (share: number) => sorted[Math.floor(share * (campaigns - 1))];
    console.log(
      `${kind}: ${missed} of ${campaigns} missed; found after ${at(0.5)} recipients, 99 % after ${at(0.99)}`,
    );
    expect(missed).toBeLessThanOrEqual(campaigns / 100);
  });
});
