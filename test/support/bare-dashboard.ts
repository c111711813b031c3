import type { FastifyInstance } from 'fastify';
import type { DashboardOptions } from '../../src/dashboard/base/tools.ts';
import { addDashboard } from '../../src/dashboard/dashboard.ts';
import type { EngineContext } from '../../src/engine/context.ts';
import { loadAccount } from '../../src/engine/load-definition.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { type ApiOptions, startApi } from '../../src/server/api/api.ts';
import type { CallLimits } from '../../src/server/api/call-limits.ts';
import { ownAddress, ownName } from './localhost-names.ts';

const settings = { environment: {}, workingFolder: '/' };

/** What the API and the dashboard of a process without accounts share; no campaign starts. */
export const bareTools = {
  campaignSource: {
    folder: 'campaigns',
    settings,
    accountNamed: (name: string) => loadAccount(name, settings),
  },
  planCampaign: () => Promise.reject(new Error('no campaign is planned')),
  uploads: true as const,
  startRun: async () => ({ kind: 'under way' as const }),
  logger: openLogger('silent', 'info'),
};

type Options = Partial<Pick<DashboardOptions, 'logger' | 'publicUrl' | 'onSignIn'>> &
  Omit<Partial<ApiOptions>, 'addPages'> & {
    /** Runs before the pages are added. */
    readonly watch?: (server: FastifyInstance, limits: CallLimits) => void;
  };

/** A dashboard in this process, beside no worker. */
export async function openBareDashboard(
  context: EngineContext,
  {
    logger = bareTools.logger,
    publicUrl,
    onSignIn,
    watch = () => undefined,
    api = undefined,
    ...options
  }: Options = {},
): Promise<{
  readonly listener: string;
  readonly address: string;
  readonly close: () => Promise<void>;
}> {
  const { url, close } = await startApi(context, {
    host: '127.0.0.1',
    port: 0,
    ...options,
    api,
    addPages: async (server, limits) => {
      watch(server, limits);
      const own = { host: '127.0.0.1', publicUrl, ownName, limits, logger, onSignIn };
      await addDashboard(server, context, { ...bareTools, ...own });
    },
  });
  return { listener: url, address: ownAddress(url), close };
}
