import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AccountSharing, noSharing } from '../domain/account-sharing.ts';
import type { EngineContext } from '../engine/context.ts';
import { createMappingFinder, type ReceiverAccount } from '../engine/delivery-reports/receiver-accounts.ts';
import { createReportStore } from '../engine/delivery-reports/report-store.ts';
import type { FailedDeliveryReport } from '../ledger/delivery-reports/apply-batch.ts';
import type { ReceivedCall } from '../ledger/delivery-reports/receive.ts';
import { loggableReason } from '../platform/database-failures.ts';
import { type ListenAddress, listen } from '../platform/http-server.ts';
import type { Logger } from '../platform/logger.ts';
import { type ApplierTimes, startApplier } from './applier.ts';
import { nameCaller } from './arriving-bodies.ts';
import { checkBody, type FailedCheck, failedHeadCheck } from './caller-checks.ts';
import { answerUnknownPaths, defaultLimits, type HttpLimits, openLimitedServer } from './limited-server.ts';
import type { DeliveryReportObserver } from './metrics.ts';
import { addHealth, addOperations, type Operations, refuseOtherMachines } from './operations.ts';
import { toReceivedCall } from './received-call.ts';
import { createRefuse } from './refusal-count.ts';
import { withTimeout } from './shared-answer.ts';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export type ReceiverOptions = ListenAddress & {
  readonly accounts: ReadonlyMap<string, ReceiverAccount>;
  readonly sharing?: AccountSharing;
  /** Commits a call as received. A call is answered 2xx only afterwards (rule 5a). */
  readonly store?: (call: ReceivedCall) => Promise<void>;
  readonly logger: Logger;
  readonly limits?: Partial<HttpLimits>;
  readonly observer?: DeliveryReportObserver;
  readonly applierTimes?: ApplierTimes;
  /** Monitoring for this machine, on the same port. */
  readonly operations?: Operations;
};

type WebhookRequest = FastifyRequest<{ Params: { account: string; token: string } }>;

/** Seconds. */
const retryAfter = 30;

/**
 * Receives delivery reports: commits the raw bytes (for a GET its query string), answers 200 (rule 5a), and applies them
 * in the background. Checks that need no body come before it is read.
 *
 * @throws InputError when the port is not available
 */
export async function startReceiver(context: EngineContext, options: ReceiverOptions) {
  const { accounts, sharing = noSharing, logger, observer, applierTimes } = options;
  const proxies = [...accounts.values()].flatMap(({ trustedProxies }) => trustedProxies);
  const limits = { ...defaultLimits, ...options.limits };
  const { server, close } = openLimitedServer(
    limits,
    proxies,
    (request, reply) => refusePath(request, reply),
    { logger, onCutOff: observer?.cutOff },
  );
  const refuse = await createRefuse(server, logger, observer?.refused);
  const onFailed = ({ report, account, code }: FailedDeliveryReport): void => {
    observer?.failed(account);
    const what = 'delivery report not applied; volley delivery-reports list --state failed shows it';
    logger.error({ report, account, code }, what);
  };
  const findMapping = createMappingFinder(accounts);
  const work = { findMapping, sharing, onApplied: (reports: number) => observer?.applied(reports), onFailed };
  const applier = startApplier(context, work, logger, applierTimes);

  const refusePath = (request: FastifyRequest, reply: FastifyReply) =>
    refuse(request, reply, { check: 'path' });
  const refuseCaller = (request: WebhookRequest, reply: FastifyReply, check: FailedCheck) =>
    refuse(request, reply, { check, ...(check !== 'account' && { account: request.params.account }) });

  answerUnknownPaths(server, refusePath);

  addHealth(server);
  if (options.operations) addOperations(server, options.operations, refuseOtherMachines(refusePath));

  const { store = createReportStore(context) } = options;
  const storeWithin = (call: ReceivedCall): Promise<void> => withTimeout(limits.storeTime, store(call));
  const tools = { accounts, logger, observer, store: storeWithin, now: context.now };
  addWebhookRoute(server, { ...tools, refuse: refuseCaller, wake: applier.wake });

  const url = await listen(server, options).catch(async (error: unknown) => {
    await applier.stop();
    throw error;
  });
  applier.wake();

  return {
    url,
    /** Wakes the applier after another source wrote to the inbox. */
    wake: applier.wake,
    /** Answers open calls until `cutOff`, and applies the current batch. */
    close: async (cutOff?: AbortSignal): Promise<void> => {
      await close(cutOff);
      await applier.stop();
    },
  };
}

type WebhookTools = Pick<Required<ReceiverOptions>, 'accounts' | 'logger' | 'store'> & {
  readonly observer: DeliveryReportObserver | undefined;
  readonly now: () => Date;
  readonly refuse: (
    request: WebhookRequest,
    reply: FastifyReply,
    check: FailedCheck,
  ) => Promise<FastifyReply>;
  readonly wake: () => void;
};

function addWebhookRoute(server: FastifyInstance, tools: WebhookTools): void {
  const { accounts, logger, observer, store, now, refuse, wake } = tools;
  server.route<{ Params: { account: string; token: string } }>({
    method: ['GET', 'POST'],
    url: '/webhook/:account/:token',
    onRequest: (request, reply, done) => {
      const { account, token } = request.params;
      const { authorization } = request.headers;
      const failed = failedHeadCheck(accounts.get(account), { token, address: request.ip, authorization });
      if (failed) return void refuse(request, reply, failed);
      nameCaller(request, `account ${account}`);
      // Fastify would refuse an unknown content type, but every body is stored.
      request.raw.headers['content-type'] = undefined;
      done();
    },
    handler: async (request, reply) => {
      const account = accounts.get(request.params.account);
      if (!account) return refuse(request, reply, 'account');
      const call = toReceivedCall(request, account.name, now());
      const { failed, signature } = checkBody(account, call);
      if (failed) return refuse(request, reply, failed);
      try {
        // A late commit counts as failed; a second delivery report is harmless.
        await store({ ...call, ...(signature && { signature }) });
      } catch (error) {
        observer?.notStored(account.name);
        logger.error({ account: account.name, error: loggableReason(error) }, 'delivery report not stored');
        return reply
          .code(503)
          .header('retry-after', retryAfter)
          .send({ error: 'not stored; send it again later' });
      }
      observer?.stored(account.name);
      wake();
      return reply.code(200).send({ status: 'stored' });
    },
  });
}
