import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Resolution } from '../../../src/domain/runs.ts';
import { applyReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveReports } from '../../../src/ledger/delivery-reports/receive.ts';
import type { ReportContent } from '../../../src/ledger/delivery-reports/report-content.ts';
import { resendDoubts as resendInLedger } from '../../../src/ledger/requests/resend.ts';
import { acceptLookedUp, resolveRequests } from '../../../src/ledger/requests/resolve.ts';
import { beginRun } from '../../../src/ledger/runs/begin.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { doubtsOf, type Model, type ModelRequest } from './model.ts';
import { report, resendDoubts, resolve, sentTo } from './predict-requests.ts';
import { begin, cancel, pause } from './predict-slices.ts';
import { inHand, planOf, policyOf } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** What operators, the campaign's policy and the service do to a run from outside. */

/** @param again also when it runs already */
export const beginOrResume = (again: boolean): Step => ({
  name: 'begin',
  possible: ({ run }) => again || run === 'planned' || run === 'paused',
  async take(model, { queue, pool, run }) {
    const before = model.run;
    const plan = planOf(run, model.settings);
    expect(await beginRun(queue, pool, plan, policyOf(model.settings), new Date())).toBe(before);
    begin(model);
  },
});

export const pauseIt: Step = {
  name: 'pause',
  possible: ({ run }) => run !== 'paused',
  async take(model, { queue, pool, run }) {
    const stopped = await pauseRun(queue, pool, run, 'wait');
    expect(stopped?.changed, 'whether it was paused').toBe(pause(model));
  },
};

export const cancelIt: Step = {
  name: 'cancel',
  possible: ({ run, settings }) => settings.cancellable && run !== 'planned' && run !== 'cancelled',
  async take(model, { queue, pool, run }) {
    const stopped = await cancelRun(queue, pool, run, 'enough', new Date());
    expect(stopped?.changed, 'whether it was cancelled').toBe(cancel(model));
  },
};

/** @param places of requests, in doubt or not */
export function resolveSome(places: readonly number[], resolution: Resolution): Step {
  return {
    name: `resolve(${places}, ${resolution})`,
    possible: (model) => model.requests.some(({ state }) => state === 'in_doubt'),
    async take(model, { pool, run }) {
      const requests = places.map((place) => choose(model.requests, place).number);
      const word = { resolution, by: 'ann', reason: 'seen', now: new Date() };
      const resolved = await inTransaction(pool, (client) =>
        resolveRequests(client, { run, requests, ...word }),
      );
      expect(
        resolved.map(({ request }) => request),
        'what was resolved',
      ).toEqual(resolve(model, requests, resolution));
    },
  };
}

export function resendByPolicy(place: number): Step {
  const doubts = (model: Model) => inHand(model).filter(({ slice }) => slice === doubtsOf(model).number);
  return {
    name: `resendDoubts(${place})`,
    possible: (model) => doubts(model).length > 0,
    async take(model, { pool, run }) {
      const holding = choose(doubts(model), place);
      const sent = await resendInLedger(pool, run, holding.owner, model.settings.resends, new Date());
      expect(sent, 'requests that are sent again').toBe(resendDoubts(model, holding));
    },
  };
}

/** The service is asked what it has: what it does not have proves nothing. */
export function lookUp(place: number): Step {
  return {
    name: `lookUp(${place})`,
    possible: (model) => model.requests.some(({ state }) => state === 'in_doubt'),
    async take(model, world) {
      const request = choose(model.requests, place);
      if (!isAccepted(world, request)) return;
      const proven = { run: world.run, request: request.number, proof: 'look-up', now: new Date() };
      expect(await acceptLookedUp(world.pool, proven)).toBe(request.state === 'in_doubt');
      if (request.state === 'in_doubt') request.state = 'accepted';
    },
  };
}

function isAccepted({ service, messageIds }: World, { number }: ModelRequest): boolean {
  return service.accepted(messageIds.get(number) ?? '') > 0;
}

/** A delivery report of something that the service has, whether we know that or not. */
export function deliver(
  place: number,
  recipient: number,
  outcome: 'delivered' | 'undelivered' | 'pending',
): Step {
  return {
    name: `report(${place}, ${recipient}, ${outcome})`,
    possible: ({ requests }) => requests.some(({ attempts }) => attempts.length > 0),
    async take(model, world) {
      const known = model.requests.filter((request) => isAccepted(world, request));
      if (known.length === 0) return;
      const request = choose(known, place);
      const address = choose(sentTo(request), recipient);
      const messageId = world.messageIds.get(request.number) ?? '';
      const call = { account: 'sandbox', method: 'POST', contentType: 'test', headers: {} } as const;
      await receiveReports(world.pool, randomUUID(), [
        { ...call, receivedAt: new Date(), body: Buffer.from('') },
      ]);
      const others = {
        jobNumber: null,
        status: outcome,
        result: null,
        sentAt: null,
        units: null,
        price: null,
        parseProblem: null,
        optedOut: false,
      };
      const read = (): ReportContent => ({ kind: 'delivery', messageId, address, outcome, ...others });
      expect(await applyReports(world.pool, 10, read, new Date())).toBe(1);
      report(request, address, outcome);
    },
  };
}

export function suppress(place: number, recipient: number): Step {
  return {
    name: `suppress(${place}, ${recipient})`,
    possible: () => true,
    async take(model, { pool }) {
      const request = choose(model.requests, place);
      if (request.addresses.length === 0) return;
      const address = choose(request.addresses, recipient);
      const others = { subAccount: '', reason: '', source: 'operator', createdAt: new Date() } as const;
      await addSuppressions(pool, [{ channel: 'sms', address, ...others }]);
      model.suppressed.add(address);
      model.epoch++;
    },
  };
}
