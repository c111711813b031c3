import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedServerLease, embeddedServerStatus, leaseEmbeddedServer } from './embedded-postgres.ts';
import { makeProcessFolder, removeLeftFolders } from './process-identity.ts';
import { runAtExit } from './run-at-exit.ts';

/**
 * Leases a server of this process alone, in a temporary folder that goes with it. It takes about a second.
 *
 * @param purpose letters and `-`, for the name of the folder
 * @throws InputError as `leaseEmbeddedServer`
 */
export async function leaseDisposableServer(
  purpose: string,
): Promise<Pick<EmbeddedServerLease, 'address' | 'release'>> {
  removeLeftFolders(purpose);
  const folder = makeProcessFolder(purpose);
  // For root, the server's user must pass through the folder.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  const home = join(folder, 'server');
  const remove = (): void => {
    const { dataFolder, ...status } = embeddedServerStatus(home);
    // A process that ends at once leaves its server running, and nothing in it is needed.
    if (status.state === 'running') process.kill(status.pid, 'SIGQUIT');
    for (const path of [dataFolder, folder]) rmSync(path, { recursive: true, force: true, maxRetries: 20 });
  };
  const forget = runAtExit(remove);
  const { address, release } = await leaseEmbeddedServer(home, { disposable: true });
  return {
    address,
    release: async () => {
      await release();
      forget();
      remove();
    },
  };
}
