import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccountSharing, noSharing } from '../domain/account-sharing.ts';
import type { EngineContext } from '../engine/context.ts';
import { mappingsOf, type ReceiverAccount } from '../engine/delivery-reports/receiver-accounts.ts';
import type { FailedReport } from '../ledger/delivery-reports/store-failed.ts';
import { loggableReason } from '../platform/database-failures.ts';
import { type ListenAddress, listen } from '../platform/http-server.ts';
import type { Logger } from '../platform/logger.ts';
import { startApplier } from './applier.ts';
import { checkBody, type FailedCheck, failedHeadCheck } from './callers.ts';
import { type HttpLimits, openBoundedServer, usualLimits } from './http.ts';
import type { ReportObserver } from './metrics.ts';
import { addHealth, addOperations, type Operations, refuseOthers } from './operations.ts';
import { type ReceivedCall, receivedCall } from './received-call.ts';
import { openRefusals } from './refusals.ts';
import { within } from './share-answer.ts';

export type Receiver = {
  readonly url: string;
  /** Says that something is in the inbox that it has not received itself. */
  readonly wake: () => void;
  /**
   * Takes no more calls, answers those under way, and applies what it is at.
   *
   * @param cutOff cuts off what is not answered by then
   */
  close(cutOff?: AbortSignal): Promise<void>;
};

export type ReceiverOptions = ListenAddress & {
  readonly accounts: ReadonlyMap<string, ReceiverAccount>;
  /** What these and other accounts share; nothing where it is not given. */
  readonly sharing?: AccountSharing;
  /** Commits a call as it came; it rejects where it could not. Only once it is done is the call answered 2xx (rule 5). */
  readonly store: (call: ReceivedCall & { readonly signature?: Buffer }) => Promise<void>;
  readonly logger: Logger;
  readonly limits?: Partial<HttpLimits>;
  readonly observer?: ReportObserver;
  /** What monitoring on this machine is told on the same port; without it nothing. */
  readonly operations?: Operations;
};

type WebhookRequest = FastifyRequest<{ Params: { account: string; token: string } }>;

const noObserver: ReportObserver = {
  taken: () => undefined,
  notStored: () => undefined,
  refused: () => undefined,
  applied: () => undefined,
  failed: () => undefined,
};

/** Seconds after which a caller whose report could not be stored may try again. */
const retryAfter = 30;

/**
 * Receives delivery reports at `POST` and `GET /webhook/<account>/<token>`: the raw bytes (of a GET its query string)
 * are committed, then the call is answered 200 (rule 5), and a background applier works them into the ledger.
 *
 * A caller who may not call is refused before its body is read, except by what only the body shows.
 *
 * @throws InputError when the port cannot be had
 */
export async function startReceiver(context: EngineContext, options: ReceiverOptions): Promise<Receiver> {
  const { accounts, sharing = noSharing, logger, observer = noObserver } = options;
  const proxies = [...accounts.values()].flatMap(({ trustedProxies }) => trustedProxies);
  const limits = { ...usualLimits, ...options.limits };
  const { server, close } = openBoundedServer(limits, proxies, (request, reply) =>
    refusePath(request, reply),
  );
  const refuse = await openRefusals(server, logger, observer.refused);
  const onFailed = ({ report, account, code }: FailedReport): void => {
    observer.failed(account);
    const what = 'report not applied; volley delivery-reports list --state failed shows it';
    logger.error({ report, account, code }, what);
  };
  const mappingOf = mappingsOf(accounts);
  const work = { mappingOf, sharing, onApplied: observer.applied, onFailed };
  const applier = startApplier(context, work, logger);

  const refusePath = (request: FastifyRequest, reply: FastifyReply) =>
    refuse(request, reply, { check: 'path' });
  const refuseCaller = (request: WebhookRequest, reply: FastifyReply, check: FailedCheck) =>
    refuse(request, reply, { check, ...(check !== 'account' && { account: request.params.account }) });

  // Before the body is read, as for a wrong token.
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) void refusePath(request, reply);
    else done();
  });

  addHealth(server);
  if (options.operations) addOperations(server, options.operations, refuseOthers(refusePath));

  server.route<{ Params: { account: string; token: string } }>({
    method: ['GET', 'POST'],
    url: '/webhook/:account/:token',
    onRequest: (request, reply, done) => {
      const { account, token } = request.params;
      const { authorization } = request.headers;
      const failed = failedHeadCheck(accounts.get(account), { token, address: request.ip, authorization });
      if (failed) return void refuseCaller(request, reply, failed);
      // Reports are stored as they come, whatever they say they are; Fastify refuses a type that it cannot read.
      delete request.raw.headers['content-type'];
      done();
    },
    handler: async (request, reply) => {
      const account = accounts.get(request.params.account);
      if (!account) return refuseCaller(request, reply, 'account');
      const call = receivedCall(request, account.name, context.now());
      const { failed, signature } = checkBody(account, call);
      if (failed) return refuseCaller(request, reply, failed);
      try {
        // What hangs on is taken for failed. If it is done after all, it is stored and comes again: twice is no harm.
        await within(limits.storeTime, options.store({ ...call, ...(signature && { signature }) }));
      } catch (error) {
        observer.notStored(account.name);
        logger.error({ account: account.name, error: loggableReason(error) }, 'report not stored');
        return reply
          .code(503)
          .header('retry-after', retryAfter)
          .send({ error: 'not stored; send it again later' });
      }
      observer.taken(account.name);
      applier.wake();
      return reply.code(200).send({ status: 'stored' });
    },
  });

  const url = await listen(server, options).catch(async (error: unknown) => {
    await applier.stop();
    throw error;
  });
  applier.wake();

  return {
    url,
    wake: applier.wake,
    close: async (cutOff) => {
      await close(cutOff);
      await applier.stop();
    },
  };
}
