import type { Dispatcher } from 'undici';
import type { EncodedLookUp, EncodedSendRequest } from '../wire/wire-interface.ts';
import { describeError, type Evidence } from './evidence.ts';

/** How long an exchange may take once its header is written (milliseconds), and how large its answer may be (bytes). */
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
 * Sends one request and reports what happened; the promise never rejects, never repeats, never follows a redirect.
 *
 * It stands on `dispatch`, the layer below `request`, for one reason: `onRequestStart`. undici calls it for this very
 * request, in the same turn and right before it writes the header (`writeH1`, just above the diagnostics channel
 * `undici:client:sendHeaders`), so nothing has to be told apart under concurrency. A lost association would be the
 * dangerous kind of mistake: a request taken for unsent and sent again. And `onRequestStart` is called again before
 * undici would write a request a second time, which is where that is stopped. `test/gateway/header-written.test.ts` holds
 * it against that channel.
 *
 * @param reset asks the service to close the connection after its answer
 */
export function exchange(
  dispatcher: Dispatcher,
  request: EncodedSendRequest | EncodedLookUp,
  limits: ExchangeLimits,
  signal?: AbortSignal,
  reset = false,
): Promise<Evidence> {
  const { promise, resolve } = Promise.withResolvers<Evidence>();
  const options: Dispatcher.DispatchOptions = {
    method: request.method,
    path: request.path,
    headers: { ...request.headers },
    body: 'body' in request ? request.body : null,
    // Deadlines of our own are exact and cover the whole answer; undici's are reset by every byte that trickles in.
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
        controller.abort(new ExchangeStopped('stopped as it was about to be written a second time'));
        return;
      }
      if (signal?.aborted) {
        controller.abort(new ExchangeStopped('stopped before it was sent'));
        return;
      }
      headerWritten = true;
      onAbort = () => controller.abort(new ExchangeStopped('no answer until the sending process had to end'));
      signal?.addEventListener('abort', onAbort, { once: true });
      deadline.start(controller, limits.headers, 'no answer');
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) return;
      deadline.start(controller, limits.body, 'answer not whole');
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
  const closing = /\bclose\b/i.test([headers['connection']].flat().join());
  return {
    kind: 'answer',
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(closing ? { closing } : {}),
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

type Deadline = {
  /** Replaces the deadline before. @param what did not happen in time */
  readonly start: (controller: Dispatcher.DispatchController, milliseconds: number, what: string) => void;
  readonly clear: () => void;
};

/**
 * Reads what has arrived before the deadline takes effect. After a longer halt, a process finds the timer due before
 * it has read its connections, and would miss an answer that is already there.
 */
function createDeadline(): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const clear = (): void => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
  return {
    start(controller, milliseconds, what) {
      clear();
      // Creates the error only when it is needed: its stack costs more than all the rest.
      const abort = (): void => controller.abort(new ExchangeStopped(`${what} within ${milliseconds} ms`));
      timer = setTimeout(() => {
        immediate = setImmediate(abort);
      }, milliseconds);
    },
    clear,
  };
}

/** An exchange that was ended from this side; its message is ours, so it can be shown. */
class ExchangeStopped extends Error {}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
