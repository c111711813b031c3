import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOneTimeLink } from '../../dashboard/base/one-time-link.ts';
import { openRenewedToken } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Defer } from '../../platform/close-after.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import { makeProcessFolder, removeLeftFolders } from '../../platform/process-identity.ts';
import { runAtExit } from '../../platform/run-at-exit.ts';
import { html } from '../../report/html/html.ts';
import { startApi } from '../../server/api/api.ts';
import type { Shell } from '../shell.ts';
import { openPages } from './open-api.ts';
import { openPlanner } from './planner/planner.ts';

const host = '127.0.0.1';

/**
 * Shows the dashboard to the person who types the command.
 *
 * @param port 0: any free port
 * @param folder of the campaigns
 * @returns an address that signs the person in, once
 */
export async function showOwnDashboard(
  shell: Shell,
  context: EngineContext,
  { port, folder, logger }: { readonly port: number; readonly folder: string; readonly logger: Logger },
  defer: Defer,
): Promise<string> {
  const planner = openPlanner(context, shell.settings, folder, logger);
  defer(planner.close);
  const name = `dashboard-${context.randomBytes(6).toString('hex')}`;
  const owner = context.actor.name;
  const token = await openRenewedToken(context, { name, owner, scope: 'admin', accounts: null });
  const noteFailure = (error: unknown): void => {
    const why = loggableReason(error);
    shell.note(`The token ${name} was not revoked, and expires within two minutes: ${why}`);
  };
  defer(() => token.revoke().catch(noteFailure));
  const link = createOneTimeLink(context, name);
  const ownName = context.randomBytes(16).toString('hex');
  const pages = await openPages(shell, context, { host, name: ownName, ...planner, logger, link });
  const { url, close } = await startApi(context, { host, port, api: undefined, addPages: pages.add });
  defer(() => close());
  return `${pages.addressAt(url)}${link.path}`;
}

export const signInText = 'This address signs you in, once and within ten minutes:';
export const openPagesText = 'Open pages are answered.';

/**
 * Opens the browser with a page that only this user can read, because others can read the arguments of a program.
 *
 * @param onFailure when there is no browser to open
 */
export function openInBrowser(address: string, onFailure: () => void, defer: Defer): void {
  removeLeftFolders('volley-dashboard');
  const folder = makeProcessFolder('volley-dashboard');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const keep = runAtExit(remove);
  defer(async () => {
    keep();
    remove();
  });
  const file = join(folder, 'open.html');
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Volley</title><meta http-equiv="refresh" content="0; url=${address}"></head><body><p><a href="${address}">To the dashboard</a></p></body></html>`;
  writeFileSync(file, page.text, { mode: 0o600, flag: 'wx' });
  const opener = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [file], {
    stdio: 'ignore',
    detached: true,
  });
  opener.once('error', onFailure);
  opener.once('exit', (code) => code !== 0 && onFailure());
  opener.unref();
}
