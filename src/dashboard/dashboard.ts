import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EngineContext } from '../engine/context.ts';
import { createHealthChecks } from '../engine/doctor/diagnose.ts';
import { nameCaller } from '../server/arriving-bodies.ts';
import { answerUnknownPaths } from '../server/limited-server.ts';
import { addAccountsPages } from './accounts/accounts-page.ts';
import { addLimitsAction } from './accounts/limits-action.ts';
import { addAuditPage } from './audit/audit-page.ts';
import { readAssets } from './base/assets.ts';
import { createErrorPages } from './base/error-pages.ts';
import { addSafeHeaders, cameFromElsewhere, createGuards } from './base/guards.ts';
import { keepNotice, keepReason, keepsReason } from './base/kept-texts.ts';
import { answerEndedStream, createLiveParts } from './base/live.ts';
import { createSessionReader } from './base/session.ts';
import { addSignIn, createNoteSignIn, sendRefresh } from './base/sign-in.ts';
import type { DashboardOptions, Tools } from './base/tools.ts';
import { findView } from './base/view.ts';
import { addZonePage } from './base/zone.ts';
import { addBillingPages } from './billing/billing-pages.ts';
import { addCampaignPage } from './campaigns/campaign-page.ts';
import { addCampaignsPage } from './campaigns/campaigns-page.ts';
import { addStartAction } from './campaigns/start-action.ts';
import { addCellsPage } from './cells/cells-page.ts';
import { addDeliveryReportPages } from './delivery-reports/delivery-report-pages.ts';
import { addHealthPage } from './health/health-page.ts';
import { createKeptPlans } from './plan/kept-plans.ts';
import { addPlanPage, createPlannedRunReader } from './plan/plan-page.ts';
import { addRecipientPage } from './recipients/recipient-page.ts';
import { addRecipientsPage } from './recipients/recipients-page.ts';
import { addRunPages } from './run/run-pages.ts';
import { addRunActions } from './runs/run-actions.ts';
import { addRunsPage } from './runs/runs-page.ts';
import { addSessionsPages } from './sessions/sessions-page.ts';
import { addSuppress, addUnsuppress } from './suppressions/suppress-actions.ts';
import { addSuppressionsPage } from './suppressions/suppressions-page.ts';
import { addTokensPages } from './tokens/tokens-page.ts';
import { addListPages } from './uploads/list-pages.ts';
import { acceptFiles } from './uploads/receive-file.ts';

/** Adds the pages, at the paths of `server`. Each needs a session; the sign-in page makes one. */
export async function addDashboard(
  server: FastifyInstance,
  context: EngineContext,
  { host, publicUrl, ownName, link, company, onSignIn, ...options }: DashboardOptions,
): Promise<void> {
  const guards = createGuards({ host, publicUrl, ownName });
  const readSession = createSessionReader(context, guards);
  const assets = readAssets();
  server.decorate('assets', assets);
  await server.register(cookie);
  await server.register(formbody, { bodyLimit: 64 * 1024 });
  server.addHook('onRequest', async (request, reply) => {
    addSafeHeaders(reply, guards);
    guards.check(request);
  });
  const errors = createErrorPages(options.logger);
  server.setErrorHandler(errors.failed);
  answerUnknownPaths(server, async (request, reply) => {
    // For its menu: a person who mistypes an address is still signed in.
    await readSession(request).catch(() => undefined);
    return errors.notFound(request, reply);
  });
  assets.serve(server);
  const noteSignIn = createNoteSignIn(options.logger, onSignIn);
  await server.register((part) =>
    addSignIn(part, { context, guards, ownName, readSession, link, noteSignIn, company }),
  );
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
    const live = createLiveParts(context, options.logger);
    const plans = createKeptPlans(options.logger);
    pages.addHook('preClose', async () => {
      live.close();
      plans.close();
    });
    addZonePage(pages);
    const { settings, folder } = options.campaignSource;
    const healthChecks = createHealthChecks(context, settings, folder);
    await addPages(pages, { ...options, context, live, plans, healthChecks }, publicUrl);
  });
}

async function addPages(server: FastifyInstance, tools: Tools, publicUrl: string | undefined): Promise<void> {
  await acceptFiles(server);
  addRunsPage(server, tools);
  addRunPages(server, tools);
  const readPlan = createPlannedRunReader(tools);
  addRunActions(server, tools, readPlan);
  addPlanPage(server, readPlan);
  addCampaignsPage(server, tools);
  addCampaignPage(server, tools);
  addStartAction(server, tools);
  addListPages(server, tools);
  addAccountsPages(server, tools);
  addLimitsAction(server, tools);
  addHealthPage(server, tools);
  addCellsPage(server, tools);
  addAuditPage(server, tools);
  addTokensPages(server, publicUrl);
  addSessionsPages(server);
  addBillingPages(server, tools);
  addRecipientsPage(server, tools);
  addRecipientPage(server, tools);
  addSuppressionsPage(server, tools);
  addSuppress(server, tools);
  addUnsuppress(server, tools);
  addDeliveryReportPages(server, tools);
}

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
