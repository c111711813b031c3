import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Fault, startFaultProxy } from './fault-proxy.ts';
import { forwardUnchanged } from './faults.ts';

/** A sandbox behind a connection that fails as asked. */
export type FaultyService = AsyncDisposable & {
  readonly url: string;
  /** For the next requests, in order; all later ones are forwarded. */
  readonly failNext: (...faults: readonly Fault[]) => void;
};

export async function startFaultyService(options: SandboxOptions = {}): Promise<FaultyService> {
  await using opening = new AsyncDisposableStack();
  const sandbox = opening.adopt(await startSandbox(options), (it) => it.close());
  const faults: Fault[] = [];
  const proxy = opening.adopt(
    await startFaultProxy(sandbox.port, () => faults.shift() ?? forwardUnchanged),
    (it) => it.stop(),
  );
  const whole = opening.move();
  return {
    url: proxy.url,
    failNext: (...asked) => void faults.push(...asked),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
