import type { Account } from '../../gateway/account.ts';
import { type Gateway, openGateway } from '../../gateway/gateway.ts';
import type { EngineContext } from '../context.ts';
import { type Observer, observedGateway, observedLimiter } from './observer.ts';
import { openRateLimiter, type RateLimiter } from './rate-limit.ts';

/** What all slices of an account share in a process. */
export type AccountDesk = {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: RateLimiter;
};

export type AccountDesks = {
  /** @throws InputError for an account that this process does not have; it is `unknown` from then on */
  readonly open: (name: string) => Promise<AccountDesk>;
  readonly unknown: () => readonly string[];
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
      limiter: observedLimiter(openRateLimiter(context, account), account.name, observer, context.monotonic),
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
    async close() {
      const opened = await Promise.allSettled(desks.values());
      await Promise.all(
        opened.map((desk) => (desk.status === 'fulfilled' ? desk.value.gateway.close() : undefined)),
      );
    },
  };
}
