import type { DashboardOptions } from '../../dashboard/base/tools.ts';
import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import { describeUnencrypted } from '../../engine/doctor/receiver.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { namesThisMachine } from '../../platform/address-list.ts';
import { digestOf } from '../../platform/digest.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ApiOptions } from '../../server/api/api.ts';
import type { ProcessMetrics } from '../../server/metrics.ts';
import type { Shell } from '../shell.ts';
import type { Planner } from './planner/planner.ts';

export type ApiChoice = {
  readonly apiHost: string;
  readonly apiPort: number;
  readonly dashboard: boolean;
  readonly uploads?: true;
};

/** @returns a function that closes the API and the dashboard */
export async function openApi(
  shell: Shell,
  context: EngineContext,
  { apiHost: host, apiPort: port, dashboard, uploads }: ApiChoice,
  {
    logger,
    metrics,
    planner,
    cutOff,
  }: {
    readonly logger: Logger;
    readonly metrics: ProcessMetrics;
    readonly planner: Planner;
    readonly cutOff: AbortSignal;
  },
): Promise<() => Promise<void>> {
  // Only a process with the API loads its schemas.
  const { apiPath, startApi } = await import('../../server/api/api.ts');
  const tools = { ...planner, logger };
  const { ledger } = await readLocation(context.ledger.pool);
  const pages = dashboard
    ? await openPages(shell, context, {
        host,
        // The same after each start, so that it can be kept as a bookmark.
        name: digestOf(`dashboard of ${ledger}`).toString('hex').slice(0, 32),
        ...tools,
        uploads,
        onSignIn: metrics.signIns,
        company: await openCompany(shell),
      })
    : undefined;
  const { url, close } = await startApi(context, {
    host,
    port,
    options: { host: '--api-host', port: '--api-port' },
    api: { ...tools, observer: metrics.api },
    onCutOff: metrics.apiCutOff,
    addPages: pages?.add,
  });
  const publicUrl = readDashboardUrl(shell);
  const unencrypted = describeUnencrypted(
    publicUrl === undefined ? undefined : new URL(publicUrl),
    namesThisMachine(host.toLowerCase()) ? undefined : host,
  );
  if (unencrypted) {
    const risk = `${unencrypted.found} ${unencrypted.nextStep}`;
    shell.note(`Warning: ${risk}`);
    logger.warn({ host }, risk);
  }
  shell.note(`API: ${url}${apiPath}`);
  if (pages) shell.note(`Dashboard: ${pages.publicUrl ?? pages.addressAt(url)}/`);
  return () => close(cutOff);
}

/** Only a process with such settings loads what signs people in with the identity provider of their company. */
async function openCompany(shell: Shell): Promise<DashboardOptions['company']> {
  if (!shell.settings.environment['VOLLEY_OIDC_ISSUER']) return undefined;
  const { readCompanySignIn } = await import('../../engine/access/company-sign-in.ts');
  const { createCompanyProvider } = await import('../../dashboard/base/company-provider.ts');
  const company = readCompanySignIn(shell.settings, readDashboardUrl(shell));
  return { ...company, provider: createCompanyProvider(company) };
}

/**
 * The pages of the dashboard, for a server that listens at `host`. Only a process that shows them loads them.
 *
 * @param name of this dashboard, which only its browsers know; they take each name under localhost for this machine
 */
export async function openPages(
  shell: Shell,
  context: EngineContext,
  {
    host,
    name,
    ...tools
  }: Pick<
    DashboardOptions,
    'campaignSource' | 'startRun' | 'planCampaign' | 'uploads' | 'logger' | 'link' | 'company' | 'onSignIn'
  > & {
    readonly host: string;
    readonly name: string;
  },
) {
  const publicUrl = readDashboardUrl(shell);
  const { addDashboard } = await import('../../dashboard/dashboard.ts');
  const ownName = `${name}.localhost`;
  const isLocal = namesThisMachine(host.toLowerCase()) || /^(?:0\.0\.0\.0|::)$/.test(host);
  const add: NonNullable<ApiOptions['addPages']> = (server, limits) =>
    addDashboard(server, context, { ...tools, host, publicUrl, ownName, limits });
  return {
    /** Where a proxy serves them. */
    publicUrl,
    /** Where browsers of this machine find them, without a slash at the end. */
    addressAt: (listener: string): string =>
      isLocal ? `http://${ownName}:${new URL(listener).port || 80}` : listener,
    add,
  };
}

const readDashboardUrl = (shell: Shell): string | undefined => readUrl(shell, 'VOLLEY_DASHBOARD_URL');

/** @throws InputError for anything but a plain http or https URL */
export function readUrl(
  { settings: { environment } }: Shell,
  where: 'VOLLEY_PUBLIC_URL' | 'VOLLEY_DASHBOARD_URL',
): string | undefined {
  const written = environment[where];
  if (!written) return undefined;
  const url = URL.parse(written);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === null || !/^https?:$/.test(url.protocol) || !isPlain) {
    // The value can contain a password.
    const what = 'expected an http:// or https:// address without user, password, query and fragment';
    throw new InputError([{ where, what }]);
  }
  return written.replace(/(?<!\/)\/+$/, '');
}
