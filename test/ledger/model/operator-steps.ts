import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Resolution } from '../../../src/domain/runs.ts';
import { applyDeliveryReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import type { ReportContent } from '../../../src/ledger/delivery-reports/report-content.ts';
import {
  acceptLookedUp,
  resendDoubts as resendInLedger,
  resolveRequests,
} from '../../../src/ledger/requests/resolve.ts';
import { lockRun } from '../../../src/ledger/run-states/transitions.ts';
import { beginRun } from '../../../src/ledger/runs/begin.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { promoteSlices } from '../../../src/ledger/slices/enqueue.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { doubtsSlice, type Model, type ModelRequest } from './model.ts';
import { report, resendDoubts, resolve, sentTo } from './predict-requests.ts';
import { begin, cancel, pause, promote } from './predict-slices.ts';
import { activeHoldings, planOf, policyOf } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** Steps of operators, of the campaign's policy and of the service. */

export const beginOrResume = (evenIfRunning: boolean): Step => ({
  name: 'begin',
  possible: ({ run }) => evenIfRunning || run === 'planned' || run === 'paused',
  async run(model, { queue, pool, run }) {
    const before = model.run;
    const plan = planOf(run, model.settings);
    expect(await beginRun(queue, pool, { plan, policy: policyOf(model.settings), now: new Date() })).toBe(
      before,
    );
    begin(model);
  },
});

export const pauseStep: Step = {
  name: 'pause',
  possible: ({ run }) => run !== 'paused',
  async run(model, { queue, pool, run }) {
    const stopped = await pauseRun(queue, pool, run, { reason: 'wait' });
    expect(stopped?.changed, 'whether it was paused').toBe(pause(model));
  },
};

/** Volley promotes a run in the transaction that decides; an operator in the one that resumes it. */
export const promoteStep: Step = {
  name: 'promote',
  possible: ({ run, slices }) => run === 'running' && slices.some(({ state }) => state === 'unpromoted'),
  async run(model, { queue, pool, run }) {
    await inTransaction(pool, async (client) => {
      if ((await lockRun(client, run)) === 'running')
        await promoteSlices(queue, client, planOf(run, model.settings));
    });
    promote(model);
  },
};

export const cancelStep: Step = {
  name: 'cancel',
  possible: ({ run, settings }) => settings.mayCancel && run !== 'planned' && run !== 'cancelled',
  async run(model, { queue, pool, run }) {
    const stopped = await cancelRun(queue, pool, run, { reason: 'enough', now: new Date() });
    expect(stopped?.changed, 'whether it was cancelled').toBe(cancel(model));
  },
};

export function resolveSome(indexes: readonly number[], resolution: Resolution): Step {
  return {
    name: `resolve(${indexes}, ${resolution})`,
    possible: (model) => model.requests.some(({ state }) => state === 'in_doubt'),
    async run(model, { pool, run }) {
      const requests = indexes.map((index) => choose(model.requests, index).number);
      const decision = { resolution, by: 'ann', reason: 'seen', now: new Date() };
      const resolved = await inTransaction(pool, (client) =>
        resolveRequests(client, { run, requests, ...decision }),
      );
      expect(
        resolved.map(({ request }) => request),
        'what was resolved',
      ).toEqual(resolve(model, requests, resolution));
    },
  };
}

export function resendByPolicy(index: number): Step {
  const doubts = (model: Model) =>
    activeHoldings(model).filter(({ slice }) => slice === doubtsSlice(model).number);
  return {
    name: `resendDoubts(${index})`,
    possible: (model) => doubts(model).length > 0,
    async run(model, { pool, run }) {
      const holding = choose(doubts(model), index);
      const sent = await resendInLedger(
        pool,
        { run, owner: holding.owner, resends: model.settings.resends },
        new Date(),
      );
      expect(sent, 'resent requests').toBe(resendDoubts(model, holding));
    },
  };
}

/** A request that the service does not know proves nothing. */
export function lookUp(index: number): Step {
  return {
    name: `lookUp(${index})`,
    possible: (model) => model.requests.some(({ state }) => state === 'in_doubt'),
    async run(model, world) {
      const request = choose(model.requests, index);
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

/** Delivers a report for a request that the service has. */
export function deliver(
  index: number,
  recipient: number,
  outcome: 'delivered' | 'undelivered' | 'pending',
): Step {
  return {
    name: `report(${index}, ${recipient}, ${outcome})`,
    possible: ({ requests }) => requests.some(({ attempts }) => attempts.length > 0),
    async run(model, world) {
      const known = model.requests.filter((request) => isAccepted(world, request));
      if (known.length === 0) return;
      const request = choose(known, index);
      const address = choose(sentTo(request), recipient);
      const messageId = world.messageIds.get(request.number) ?? '';
      const call = { account: 'sandbox', method: 'POST', contentType: 'test', headers: {} } as const;
      await receiveDeliveryReports(world.pool, randomUUID(), [
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
      expect(await applyDeliveryReports(world.pool, { limit: 10, parse: read, now: new Date() })).toBe(1);
      report(request, address, outcome);
      // Half of the outcomes are folded when the next step changes or reads them.
      if (recipient % 2 === 0) await foldAll(world.pool);
    },
  };
}

export function suppress(index: number, recipient: number): Step {
  return {
    name: `suppress(${index}, ${recipient})`,
    possible: () => true,
    async run(model, { pool }) {
      const request = choose(model.requests, index);
      if (request.addresses.length === 0) return;
      const address = choose(request.addresses, recipient);
      const others = { subAccount: '', reason: '', source: 'operator', createdAt: new Date() } as const;
      await addSuppressions(pool, [{ channel: 'sms', address, ...others }]);
      model.suppressed.add(address);
      model.epoch++;
    },
  };
}
