import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { makeHome, removeHome } from '../support/embedded-home.ts';
import { spawnHolder, startHolder } from '../support/lease-holder.ts';

/** Milliseconds until the kill: before, during and after initdb. */
const moments = Array.from({ length: 20 }, (_, index) => 100 + index * 100);

test.each(moments)(
  'a kill %i ms into the first start of the embedded server does no harm',
  async (moment) => {
    const home = makeHome('volley-test-home-');
    onTestFinished(() => removeHome(home));
    const killed = spawnHolder(home);
    await sleep(moment);
    killed.kill('SIGKILL');
    await once(killed, 'exit');

    const next = await startHolder(home);
    const client = new Client(next.server.address);
    await client.connect();
    expect((await client.query('SELECT 1 AS answer')).rows).toEqual([{ answer: 1 }]);
    await client.end();
    await next.end('release');
    expect(readdirSync(join(home, 'data')).filter((name) => name === 'new')).toEqual([]);
  },
);
