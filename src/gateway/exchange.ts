import type { Dispatcher } from 'undici';
import type { EncodedLookUp, EncodedSendRequest } from '../wire/wire-interface.ts';
import { describeError, type Evidence } from './evidence.ts';

/** Milliseconds from the written header, and bytes of the answer. */
export type ExchangeLimits = {
  readonly headers: number;
  readonly body: number;
  readonly maxAnswerBytes: number;
};

type Handler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
  >
>;

type AnswerHead = Omit<Extract<Evidence, { kind: 'answer' }>, 'body'>;

/**
 * Never rejects, never repeats, never follows a redirect.
 *
 * Uses `dispatch`, the layer below `request`, for `onRequestStart`: undici calls it for this very request,
 * right before it writes the header. No event must be matched to a request; a mismatch could send a request
 * twice. undici also calls it before it would write a request again, and is stopped there.
 * `test/gateway/header-written.test.ts` compares it with the channel `undici:client:sendHeaders`.
 *
 * @param reset asks the service to close the connection after its answer
 */
export function exchange(
  dispatcher: Dispatcher,
  request: EncodedSendRequest | EncodedLookUp,
  limits: ExchangeLimits,
  { signal, reset = false }: { readonly signal?: AbortSignal | undefined; readonly reset?: boolean } = {},
): Promise<Evidence> {
  const { promise, resolve } = Promise.withResolvers<Evidence>();
  const options: Dispatcher.DispatchOptions = {
    method: request.method,
    path: request.path,
    headers: { ...request.headers },
    body: 'body' in request ? request.body : null,
    // Our own deadlines cover the whole answer; undici's restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    reset,
  };
  dispatcher.dispatch(options, evidenceHandler(limits, signal, resolve));
  return promise;
}

function evidenceHandler(
  limits: ExchangeLimits,
  signal: AbortSignal | undefined,
  resolve: (evidence: Evidence) => void,
): Handler {
  let headerWritten = false;
  let head: AnswerHead | undefined;
  const deadline = createDeadline();
  let received = 0;
  const chunks: Buffer[] = [];

  let onAbort = (): void => undefined;
  const settle = (evidence: Evidence): void => {
    deadline.clear();
    signal?.removeEventListener('abort', onAbort);
    resolve(evidence);
  };

  return {
    onRequestStart(controller) {
      if (headerWritten) {
        controller.abort(new ExchangeStopped('stopped before it was written a second time'));
        return;
      }
      if (signal?.aborted) {
        controller.abort(new ExchangeStopped('stopped before it was sent'));
        return;
      }
      headerWritten = true;
      onAbort = () => controller.abort(new ExchangeStopped('no answer before the process stopped'));
      signal?.addEventListener('abort', onAbort, { once: true });
      deadline.start(controller, limits.headers, 'no answer');
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) return;
      deadline.start(controller, limits.body, 'no complete answer');
      head = answerHead(status, headers);
    },
    onResponseData(controller, chunk) {
      received += chunk.byteLength;
      if (received > limits.maxAnswerBytes) {
        controller.abort(new ExchangeStopped(`answer larger than ${limits.maxAnswerBytes} bytes`));
      } else {
        chunks.push(chunk);
      }
    },
    onResponseEnd() {
      settle(
        head
          ? { ...head, body: Buffer.concat(chunks) }
          : { kind: 'no_answer', error: 'the answer had no header' },
      );
    },
    onResponseError(_controller, error) {
      const words = error instanceof ExchangeStopped ? error.message : describeError(error);
      if (!headerWritten) settle({ kind: 'not_sent', error: words });
      else settle({ kind: 'no_answer', error: words, ...(head ? { status: head.status } : {}) });
    },
  };
}

function answerHead(status: number, headers: Headers): AnswerHead {
  const retryAfter = firstValue(headers['retry-after']);
  const mediaType = readMediaType(firstValue(headers['content-type']));
  const closing = /\bclose\b/i.test([headers['connection']].flat().join());
  return {
    kind: 'answer',
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(closing ? { closing } : {}),
  };
}

/** RFC 9110, 8.3.1. Bounded, because it is kept and shown. */
function readMediaType(header: string | undefined): string | undefined {
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,40}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,40}(?=\s*(;|$))/i
    .exec(header?.trim() ?? '')?.[0]
    .toLowerCase();
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads what has arrived before the deadline takes effect. After a long halt, the timer is due before the
 * process has read its connections, and an answer that is already there would be missed.
 */
function createDeadline() {
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const clear = (): void => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
  return {
    /** Replaces the previous deadline. @param what did not happen in time */
    start(controller: Dispatcher.DispatchController, milliseconds: number, what: string): void {
      clear();
      // Created only when needed: its stack costs more than all the rest.
      const abort = (): void => controller.abort(new ExchangeStopped(`${what} within ${milliseconds} ms`));
      timer = setTimeout(() => {
        immediate = setImmediate(abort);
      }, milliseconds);
    },
    clear,
  };
}

/** Ended from our side. The message is ours, so it can be shown. */
class ExchangeStopped extends Error {}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
