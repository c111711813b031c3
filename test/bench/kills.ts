import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { z } from 'zod';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { runStatement } from '../support/statement.ts';
import { startVolley } from '../support/volley.ts';
import { environmentFor, planRun, startResume } from './dispatch/volley.ts';
import { writeCampaign } from './dispatch/workload.ts';

const requests = 2_000;
const kills = 5;

/**
 * Kills a program five times on its way through 2,000 requests, each time starts it again, and counts at the service what was
 * lost and what came twice. The peers are those of `dispatch`. All send to one service, which answers after 20 ms.
 */
export async function benchKills(): Promise<void> {
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home, throwAwayOptions);
  await grantTestRights(lease.address);
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  const table = new Table({
    head: ['', 'lost', 'twice', 'in doubt, and listed'],
    style: { head: [], border: [] },
  });
  try {
    for (const kind of ['script', 'queue', 'volley'] as const) {
      const databaseUrl = `${urlOfServer(lease.address)}/kills_${kind}`;
      await runStatement(`${urlOfServer(lease.address)}/postgres`, `CREATE DATABASE kills_${kind}`);
      const { server, url, times } = await startService();
      const program =
        kind === 'volley' ? await volley(folder, url, databaseUrl) : peer(kind, url, databaseUrl);
      for (let kill = 1; kill <= kills; kill++)
        await startAndKill(program, times, (requests / (kills + 1)) * kill);
      await program.start().ended;
      server.close();
      const counts = [...times.values()];
      const inDoubt = await program.inDoubt();
      const known = new Set([...times.keys(), ...inDoubt]);
      table.push([
        program.name,
        String(requests - known.size),
        String(counts.filter((count) => count > 1).length),
        String(inDoubt.length),
      ]);
    }
  } finally {
    await rm(folder, { recursive: true });
    await lease.release();
    deleteHome(home);
  }
  console.log(
    `kills: ${requests.toLocaleString('en')} requests, 64 at once, ${kills} kills (SIGKILL), started again each time`,
  );
  console.log(table.toString());
}

type Started = { readonly kill: () => void; readonly ended: Promise<unknown> };
type Program = {
  readonly name: string;
  readonly start: () => Started;
  /** The MessageIDs that it lists as in doubt. */
  readonly inDoubt: () => Promise<readonly string[]>;
};

async function startAndKill(program: Program, times: ReadonlyMap<string, number>, at: number): Promise<void> {
  const { kill, ended } = program.start();
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (times.size < at && !over) await sleep(1);
  kill();
  await ended;
}

/** Counts how many times each MessageID came. */
async function startService(): Promise<{ server: Server; url: string; times: Map<string, number> }> {
  const times = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const id = /"MessageID":"(\w+)"/.exec(body)?.[1] ?? '';
    times.set(id, (times.get(id) ?? 0) + 1);
    await sleep(20);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ Result: 'Success', MessageID: id }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { server, url: `http://127.0.0.1:${port}`, times };
}

function peer(kind: 'script' | 'queue', url: string, databaseUrl: string): Program {
  const file = fileURLToPath(new URL('./kills/peer.ts', import.meta.url));
  return {
    name: kind === 'script' ? 'p-limit, INSERT for each answer' : 'pg-boss, job for each request',
    start: () => {
      const child = execFile(process.execPath, [file, kind, url, String(requests), databaseUrl]);
      return { kill: () => void child.kill('SIGKILL'), ended: once(child, 'exit') };
    },
    inDoubt: async () => [],
  };
}

async function volley(folder: string, url: string, databaseUrl: string): Promise<Program> {
  const workspace = { folder, databaseUrl };
  const run = await planRun(await writeCampaign(folder, { requests, recipients: 1 }, url), workspace);
  return {
    name: 'volley',
    start: () => {
      const { process: child, ended } = startResume(run, workspace);
      return { kill: () => void child.kill('SIGKILL'), ended };
    },
    inDoubt: async () => {
      const { stdout } = await startVolley(['resolve', run, '--json'], {
        cwd: folder,
        env: environmentFor(workspace),
      }).ended;
      return [...stdout.matchAll(/"messageId":"(\w+)"/g)].map(([, messageId = '']) => messageId);
    },
  };
}
