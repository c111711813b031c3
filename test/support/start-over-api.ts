import { randomUUID } from 'node:crypto';
import { z } from 'zod';

const started = z.object({ run: z.string() });

/** Starts a run of a campaign file over the API at this address; a worker sends it. */
export async function startOverApi(url: string, token: string, campaign: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const answer = await fetch(`${url}/api/v1/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ campaign }),
  });
  return started.parse(await answer.json()).run;
}
