import type { DashboardOptions } from '../dashboard/base/tools.ts';
import type { EngineContext } from '../engine/context.ts';
import type { ApiOptions } from '../server/api/api.ts';
import { readPublicUrl } from './public-url.ts';
import type { Shell } from './shell.ts';

export type Pages = {
  /** Where a proxy serves them. */
  readonly publicUrl: string | undefined;
  readonly add: NonNullable<ApiOptions['addPages']>;
};

/** The pages of the dashboard, for a server that listens at `host`. Only a process that shows them loads them. */
export async function openPages(
  { settings }: Shell,
  context: EngineContext,
  host: string,
  tools: Pick<DashboardOptions, 'scheduleSource' | 'startRun' | 'logger' | 'link'>,
): Promise<Pages> {
  const publicUrl = readPublicUrl(settings.environment['VOLLEY_DASHBOARD_URL'], 'VOLLEY_DASHBOARD_URL');
  const { addDashboard } = await import('../dashboard/dashboard.ts');
  return {
    publicUrl,
    add: (server, limits) => addDashboard(server, context, { ...tools, host, publicUrl, limits }),
  };
}
