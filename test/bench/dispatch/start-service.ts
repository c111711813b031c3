import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const received = z.object({
  requests: z.number(),
  /** Bodies only. */
  bodyBytes: z.number(),
  /** Epoch milliseconds of the first header; null before it. */
  firstAt: z.number().nullable(),
  /** Processor time. */
  cpuSeconds: z.number(),
});
export type Received = z.infer<typeof received>;

export type Service = AsyncDisposable & {
  readonly url: string;
  /** Resets the counts. */
  readonly begin: () => Promise<Received>;
  readonly received: () => Promise<Received>;
};

export async function startService(): Promise<Service> {
  const child = fork(fileURLToPath(new URL('./service.ts', import.meta.url)));
  const nextMessage = async (): Promise<unknown> => {
    const [message]: unknown[] = await once(child, 'message');
    return message;
  };
  const ask = async (words: string): Promise<Received> => {
    const answer = nextMessage();
    child.send(words);
    return received.parse(await answer);
  };
  const { port } = z.object({ port: z.number() }).parse(await nextMessage());
  return {
    url: `http://127.0.0.1:${port}`,
    begin: () => ask('begin'),
    received: () => ask('count'),
    async [Symbol.asyncDispose]() {
      child.disconnect();
    },
  };
}
