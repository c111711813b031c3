import { codeOf } from '../platform/file-error.ts';

/** If its header was not written, the request certainly never reached the service. */
export type Evidence =
  /** No byte was written: no host, no connection, no TLS. */
  | { readonly kind: 'not_sent'; readonly error: string }
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** The header's text; see `retryAfterMilliseconds`. */
      readonly retryAfter?: string;
      /** Of the body, in lower case and without parameters. */
      readonly mediaType?: string;
      readonly body: Buffer;
      /** `Connection: close`: nothing more is answered on this connection. */
      readonly closing?: true;
      /**
       * Its connection carried other exchanges, so only a MessageID shows that the answer is to this request.
       */
      readonly unproven?: true;
    }
  /** The header was written, but no whole answer came back: reset, timeout, truncated, too large. */
  | {
      readonly kind: 'no_answer';
      readonly error: string;
      /** Proves nothing, but helps an investigation. */
      readonly status?: number;
    };

export type Answer = Extract<Evidence, { kind: 'answer' }>;

const errorTexts: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name could not be looked up',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed while sending',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'answer shorter or longer than announced',
  UND_ERR_HEADERS_OVERFLOW: 'answer header too large',
  HTTPParserError: 'answer is not HTTP',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no complete answer in time',
  UND_ERR_ABORTED: 'given up',
  UND_ERR_INVALID_ARG: 'the request contains a character that HTTP does not allow',
  UND_ERR_CLOSED: 'the gateway is closed',
  UND_ERR_DESTROYED: 'the gateway is closed',
};

const certificateErrorTexts: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

/** Uses only the error's code or name: its message can contain what was sent. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = codeOf(error) ?? error.name;
  const words = Object.hasOwn(errorTexts, code) ? errorTexts[code] : undefined;
  if (words !== undefined) return words;
  if (code.startsWith('HPE_')) return 'answer is not HTTP';
  const certificate = Object.hasOwn(certificateErrorTexts, code) ? certificateErrorTexts[code] : undefined;
  if (certificate !== undefined) return `TLS failed: ${certificate} (${code})`;
  return /TLS|SSL|CERT|SIGNATURE|EPROTO/.test(code) ? `TLS failed (${code})` : `connection failed (${code})`;
}
