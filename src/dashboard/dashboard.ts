import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EngineContext } from '../engine/context.ts';
import { createHealthChecks } from '../engine/doctor/diagnose.ts';
import { nameCaller } from '../server/arriving-bodies.ts';
import { answerUnknownPaths } from '../server/limited-server.ts';
import { addAccountsPages } from './accounts/accounts-page.ts';
import { addAuditPage } from './audit/audit-page.ts';
import { createForms } from './base/actions.ts';
import { serveAssets } from './base/assets.ts';
import { createFailurePage, sendUnknownPath } from './base/error-pages.ts';
import { addSafeHeaders, cameFromElsewhere, createGuards } from './base/guards.ts';
import { keepNotice, keepReason, keepsReason } from './base/kept-texts.ts';
import { answerEndedStream, createLivePages } from './base/live.ts';
import { createPages } from './base/pages.ts';
import { createSessionReader } from './base/session.ts';
import { addSignIn, createNoteSignIn, sendRefresh } from './base/sign-in.ts';
import type { DashboardOptions, Tools } from './base/tools.ts';
import { findView } from './base/view.ts';
import { addZonePage } from './base/zone.ts';
import { addBillingPages } from './billing/billing-page.ts';
import { addCampaignPages } from './campaigns/campaign-page.ts';
import { addCampaignsPage } from './campaigns/campaigns-page.ts';
import { addCellsPage } from './cells/cells-page.ts';
import { addDeliveryReportPages } from './delivery-reports/delivery-report-pages.ts';
import { addHealthPage } from './health/health-page.ts';
import { createKeptPlans } from './plan/kept-plans.ts';
import { addRecipientPage } from './recipients/recipient-page.ts';
import { addRecipientsPage } from './recipients/recipients-page.ts';
import { addRunPages } from './run/run-page.ts';
import { addRunActions } from './runs/run-actions.ts';
import { addRunsPage } from './runs/runs-page.ts';
import { addSessionsPages } from './sessions/sessions-page.ts';
import { addSuppressionsPages } from './suppressions/suppress-actions.ts';
import { addTokensPages } from './tokens/tokens-page.ts';
import { acceptFiles } from './uploads/kept-files.ts';
import { addListPages } from './uploads/list-pages.ts';

/** Adds the pages, at the paths of `server`. Each needs a session; the sign-in page makes one. */
export async function addDashboard(
  server: FastifyInstance,
  context: EngineContext,
  options: DashboardOptions,
): Promise<void> {
  const { logger, onSignIn } = options;
  const guards = createGuards(options);
  const readSession = createSessionReader(context, guards);
  await server.register(cookie);
  await server.register(formbody, { bodyLimit: 64 * 1024 });
  server.addHook('onRequest', async (request, reply) => {
    addSafeHeaders(reply, guards);
    guards.check(request);
  });
  server.setErrorHandler(createFailurePage(logger));
  answerUnknownPaths(server, async (request, reply) => {
    // For its menu: a person who mistypes an address is still signed in.
    await readSession(request).catch(() => undefined);
    return sendUnknownPath(request, reply);
  });
  serveAssets(server);
  const noteSignIn = createNoteSignIn(logger, onSignIn);
  await server.register((part) => addSignIn(part, { ...options, context, guards, readSession, noteSignIn }));
  await server.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => {
      const view = await readSession(request);
      if (!view) return keepsReason(request) ? undefined : refuse(request, reply);
      nameCaller(request, `token ${view.session.name}`);
      return undefined;
    });
    pages.addHook('preHandler', async (request, reply) => {
      if (findView(request)) return undefined;
      keepReason(request, reply);
      return refuse(request, reply);
    });
    await acceptFiles(pages);
    const tools = createTools(pages, context, options);
    for (const addPages of rooms) addPages(tools);
  });
}

function createTools(server: FastifyInstance, context: EngineContext, options: DashboardOptions): Tools {
  const { settings, folder } = options.campaignSource;
  const plans = createKeptPlans(options.logger);
  server.addHook('preClose', async () => plans.close());
  const pages = createPages(server);
  return {
    ...options,
    ...pages,
    ...createForms(server),
    ...createLivePages(server, pages, { context, logger: options.logger }),
    server,
    context,
    plans,
    healthChecks: createHealthChecks(context, settings, folder),
  };
}

const rooms = [
  addZonePage,
  addRunsPage,
  addRunPages,
  addRunActions,
  addCampaignsPage,
  addCampaignPages,
  addListPages,
  addAccountsPages,
  addHealthPage,
  addCellsPage,
  addAuditPage,
  addTokensPages,
  addSessionsPages,
  addBillingPages,
  addRecipientsPage,
  addRecipientPage,
  addSuppressionsPages,
  addDeliveryReportPages,
] as const;

/** Answers a caller without a session. */
function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (/\btext\/event-stream\b/.test(request.headers.accept ?? '')) {
    answerEndedStream(reply);
    return reply;
  }
  if (cameFromElsewhere(request)) return sendRefresh(reply, request.url);
  const { method, url, routeOptions } = request;
  const isForm = method === 'POST';
  if (isForm) keepNotice(reply, sessionEnded);
  const canOpen = !isForm || request.server.hasRoute({ method: 'GET', url: routeOptions.url ?? '' });
  const to = canOpen && url !== '/' ? `?${new URLSearchParams({ to: url }).toString()}` : '';
  return reply.redirect(`/sign-in${to}`, 303);
}

const sessionEnded = 'Your session has ended, and nothing was done. Sign in, then send the form again.';
