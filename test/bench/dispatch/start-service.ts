import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const received = z.object({
  requests: z.number(),
  /** Of bodies alone. */
  bodyBytes: z.number(),
  /** When the first header was read, as `Date.now()`; null before it. */
  firstAt: z.number().nullable(),
  /** Of processor time. */
  cpuSeconds: z.number(),
});
export type Received = z.infer<typeof received>;

export type Service = {
  readonly url: string;
  /** From here on it counts anew. */
  readonly begin: () => Promise<Received>;
  readonly received: () => Promise<Received>;
  readonly stop: () => void;
};

/** The service in a process of its own, on a free port of 127.0.0.1. */
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
    stop: () => child.disconnect(),
  };
}
