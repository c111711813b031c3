import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { type Gateway, openGateway } from '../../gateway/gateway.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { type AccountBreaker, createAccountBreaker } from './account-breaker.ts';
import { type Observer, observeGateway, observeLimiter } from './observer.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

export type AccountRuntime = {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: RateLimiter;
  readonly breaker: AccountBreaker;
};

export type AccountRuntimes = {
  /** @returns undefined for an account that this process lacks; it becomes `unknown` */
  readonly open: (name: string) => Promise<AccountRuntime | undefined>;
  readonly unknown: () => readonly string[];
  readonly refreshBreakers: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createAccountRuntimes(
  context: EngineContext,
  {
    accountNamed,
    observer,
    onUnknownAccount,
  }: {
    readonly accountNamed: AccountNamed;
    readonly observer: Observer;
    /** Called once for each of them. */
    readonly onUnknownAccount?: ((error: InputError) => void) | undefined;
  },
): AccountRuntimes {
  const runtimes = new Map<string, Promise<AccountRuntime>>();
  const unknown = new Set<string>();

  async function open(name: string): Promise<AccountRuntime> {
    const account = await accountNamed(name);
    return {
      account,
      gateway: observeGateway(openGateway(account), account.name, observer),
      limiter: observeLimiter(
        createRateLimiter(context, account, {
          onClockSteppedBack: (by) => observer.clockSteppedBack(name, by),
        }),
        account.name,
        observer,
        context.monotonic,
      ),
      breaker: createAccountBreaker(context, account),
    };
  }

  return {
    open(name) {
      const runtime = runtimes.get(name) ?? open(name);
      runtimes.set(name, runtime);
      return runtime.catch((error: unknown) => {
        runtimes.delete(name);
        unknown.add(name);
        if (!(error instanceof InputError)) throw error;
        onUnknownAccount?.(error);
        return undefined;
      });
    },
    unknown: () => [...unknown],
    async refreshBreakers() {
      for (const runtime of runtimes.values())
        await (await runtime.catch(() => undefined))?.breaker.refresh();
    },
    async close() {
      const opened = await Promise.allSettled(runtimes.values());
      await Promise.all(
        opened.map((runtime) => (runtime.status === 'fulfilled' ? runtime.value.gateway.close() : undefined)),
      );
    },
  };
}
