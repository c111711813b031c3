import type { Account } from '../../gateway/account.ts';
import { type Gateway, openGateway } from '../../gateway/gateway.ts';
import type { EngineContext } from '../context.ts';
import { type AccountBreaker, openAccountBreaker } from './account-breaker.ts';
import { type Observer, observedGateway, observedLimiter } from './observer.ts';
import { openRateLimiter, type RateLimiter } from './rate-limit.ts';

export type AccountDesk = {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: RateLimiter;
  readonly breaker: AccountBreaker;
};

export type AccountDesks = {
  /** @throws InputError for an account that this process does not have; it is `unknown` from then on */
  readonly open: (name: string) => Promise<AccountDesk>;
  readonly unknown: () => readonly string[];
  /** Learns which services other workers found to refuse everything, or to answer again. */
  readonly lookAtBreakers: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function openAccountDesks(
  context: EngineContext,
  accountNamed: (name: string) => Promise<Account>,
  observer: Observer,
): AccountDesks {
  const desks = new Map<string, Promise<AccountDesk>>();
  const unknown = new Set<string>();

  async function open(name: string): Promise<AccountDesk> {
    const account = await accountNamed(name);
    return {
      account,
      gateway: observedGateway(openGateway(account), account.name, observer),
      limiter: observedLimiter(
        openRateLimiter(context, account, {
          onClockSteppedBack: (by) => observer.clockSteppedBack(name, by),
        }),
        account.name,
        observer,
        context.monotonic,
      ),
      breaker: openAccountBreaker(context, account),
    };
  }

  return {
    open(name) {
      const desk = desks.get(name) ?? open(name);
      desks.set(name, desk);
      desk.catch(() => {
        desks.delete(name);
        unknown.add(name);
      });
      return desk;
    },
    unknown: () => [...unknown],
    async lookAtBreakers() {
      for (const desk of desks.values()) await (await desk.catch(() => undefined))?.breaker.look();
    },
    async close() {
      const opened = await Promise.allSettled(desks.values());
      await Promise.all(
        opened.map((desk) => (desk.status === 'fulfilled' ? desk.value.gateway.close() : undefined)),
      );
    },
  };
}
