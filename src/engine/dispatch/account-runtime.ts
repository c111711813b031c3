import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { type Gateway, openGateway } from '../../gateway/gateway.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { type AccountBreaker, createAccountBreaker } from './account-breaker.ts';
import type { Observer } from './observer.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

export type AccountRuntime = {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: RateLimiter;
  readonly breaker: AccountBreaker;
};

export type AccountRuntimes = ReturnType<typeof createAccountRuntimes>;

type RuntimeOptions = {
  readonly accountNamed: AccountNamed;
  readonly observer: Partial<Observer>;
  /** Called once for each of them. */
  readonly onUnknownAccount?: ((error: InputError) => void) | undefined;
};

export function createAccountRuntimes(
  context: EngineContext,
  { accountNamed, observer, onUnknownAccount }: RuntimeOptions,
) {
  const runtimes = new Map<string, Promise<AccountRuntime>>();
  const unknown = new Set<string>();

  async function open(name: string): Promise<AccountRuntime> {
    const account = await accountNamed(name);
    return {
      account,
      gateway: openGateway(account),
      limiter: createRateLimiter(context, account, {
        onClockSteppedBack: (by) => observer.clockSteppedBack?.(name, by),
      }),
      breaker: createAccountBreaker(context, account),
    };
  }

  return {
    /** @returns undefined for an account that this process lacks; it becomes `unknown` */
    open(name: string): Promise<AccountRuntime | undefined> {
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
    unknown: (): readonly string[] => [...unknown],
    async refreshBreakers(): Promise<void> {
      for (const runtime of runtimes.values())
        await (await runtime.catch(() => undefined))?.breaker.refresh();
    },
    async close(): Promise<void> {
      const opened = await Promise.allSettled(runtimes.values());
      await Promise.all(
        opened.map((runtime) => (runtime.status === 'fulfilled' ? runtime.value.gateway.close() : undefined)),
      );
    },
  };
}
