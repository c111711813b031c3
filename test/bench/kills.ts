import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { answerSuccess, type Peer, textPeer } from '../gateway/test-peers.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { environmentFor, planRun, startResume } from './dispatch/volley.ts';
import { writeCampaign } from './dispatch/workload.ts';
import { grouped, printTable } from './printing.ts';
import { createDatabase, startServer } from './servers.ts';

const requests = 2_000;
const kills = 5;

/**
 * Kills a program five times on its way through 2,000 requests, each time starts it again, and counts at the service what was
 * lost and what came twice. The peers are those of `dispatch`. All send to one service, which answers after 20 ms.
 */
export async function benchKills(): Promise<void> {
  await using server = await startServer('disposable');
  await using workspace = await makeWorkspace();
  const rows: string[][] = [];
  for (const kind of ['script', 'queue', 'volley'] as const) {
    const databaseUrl = await createDatabase(server, `kills_${kind}`);
    const service = await startService();
    const { url, times } = service;
    const program =
      kind === 'volley' ? await volley(workspace.folder, url, databaseUrl) : peer(kind, url, databaseUrl);
    for (let kill = 1; kill <= kills; kill++)
      await startAndKill(program, times, (requests / (kills + 1)) * kill);
    await program.start().ended;
    service.stop();
    const counts = [...times.values()];
    const inDoubt = await program.inDoubt();
    const known = new Set([...times.keys(), ...inDoubt]);
    rows.push([
      program.name,
      String(requests - known.size),
      String(counts.filter((count) => count > 1).length),
      String(inDoubt.length),
    ]);
  }
  printTable(
    `kills: ${grouped(requests)} requests, 64 at once, ${kills} kills (SIGKILL), started again each time`,
    ['', 'lost', 'twice', 'in doubt, and listed'],
    rows,
  );
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
async function startService(): Promise<Peer & { readonly times: ReadonlyMap<string, number> }> {
  const times = new Map<string, number>();
  const peer = await textPeer(async (body, response) => {
    const id = /"MessageID":"(\w+)"/.exec(body)?.[1] ?? '';
    times.set(id, (times.get(id) ?? 0) + 1);
    await sleep(20);
    answerSuccess(id, response);
  });
  return { ...peer, times };
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
