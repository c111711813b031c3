import type { DashboardOptions } from '../dashboard/base/tools.ts';
import type { EngineContext } from '../engine/context.ts';
import { namesThisMachine } from '../platform/address-list.ts';
import type { ApiOptions } from '../server/api/api.ts';
import { readPublicUrl } from './public-url.ts';
import type { Shell } from './shell.ts';

export type Pages = {
  /** Where a proxy serves them. */
  readonly publicUrl: string | undefined;
  /** Where browsers of this machine find them, without a slash at the end. */
  readonly addressAt: (listener: string) => string;
  readonly add: NonNullable<ApiOptions['addPages']>;
};

/**
 * The pages of the dashboard, for a server that listens at `host`. Only a process that shows them loads them.
 *
 * @param name of this dashboard, which only its browsers know; they take each name under localhost for this machine
 */
export async function openPages(
  { settings }: Shell,
  context: EngineContext,
  {
    host,
    name,
    ...tools
  }: Pick<DashboardOptions, 'scheduleSource' | 'startRun' | 'logger' | 'link' | 'onSignIn'> & {
    readonly host: string;
    readonly name: string;
  },
): Promise<Pages> {
  const publicUrl = readPublicUrl(settings.environment['VOLLEY_DASHBOARD_URL'], 'VOLLEY_DASHBOARD_URL');
  const { addDashboard } = await import('../dashboard/dashboard.ts');
  const ownName = `${name}.localhost`;
  const isLocal = namesThisMachine(host.toLowerCase()) || /^(?:0\.0\.0\.0|::)$/.test(host);
  return {
    publicUrl,
    addressAt: (listener) => (isLocal ? `http://${ownName}:${new URL(listener).port || 80}` : listener),
    add: (server, limits) => addDashboard(server, context, { ...tools, host, publicUrl, ownName, limits }),
  };
}
