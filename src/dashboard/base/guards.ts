import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesThisMachine } from '../../platform/address-list.ts';
import { previewPolicy } from '../../report/html/preview-style.ts';
import { ProblemError } from '../../server/api/problem.ts';
import { createHostCheck, parseHost } from '../../server/known-hosts.ts';

/** @param own what the page may load besides scripts */
function policyWith(own: string): string {
  return `default-src 'none'; ${own}; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}

/** The policy of a page with messages: the HTML of an e-mail brings its own styles, in a frame without any rights. */
export const messagePolicy = policyWith(previewPolicy.replace("style-src '", "style-src 'self' '"));

/** The headers of every answer: nothing is loaded from elsewhere, kept by caches, or shown in a frame. */
const safeHeaders = {
  'content-security-policy': policyWith("img-src 'self' data:; style-src 'self'"),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

export type DashboardAddress = {
  readonly host: string;
  /** Address at which browsers reach it through a proxy. */
  readonly publicUrl: string | undefined;
  /** The host under which browsers of this machine reach it, and nothing else: `….localhost`. */
  readonly ownName: string;
};

export type Guards = ReturnType<typeof createGuards>;

/** Postgres keeps no NUL, so nothing is named with one. */
const unusable = 'The address has a character that no name has.';

/** What every request of a dashboard at this address must pass. */
export function createGuards({ host: listening, publicUrl, ownName }: DashboardAddress) {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = url ? [ownName, url.hostname.replace(/^\[(.*)\]$/, '$1')] : [ownName];
  const isKnownHost = createHostCheck(listening, names);
  const isLocal = namesThisMachine(listening.toLowerCase());
  /** Whether the browser uses https, through the proxy at `publicUrl`. */
  const isSecure = ({ headers }: FastifyRequest): boolean =>
    url?.protocol === 'https:' && headers.host === url.host;
  return {
    isSecure,
    /**
     * Whether a session is kept under the host of the request. A browser sends the cookies of 127.0.0.1 and localhost to
     * every program of the machine, because cookies do not know ports.
     */
    keepsSessions: ({ headers }: FastifyRequest): boolean => {
      const host = parseHost(headers.host);
      return host === ownName || headers.host === url?.host || !(isLocal || namesThisMachine(host));
    },
    /** @throws ProblemError for a host or an origin that is not ours, or an address that names nothing */
    check: (request: FastifyRequest): void => {
      const { method, headers, url: asked } = request;
      if (!isKnownHost(headers.host)) {
        const what =
          'The dashboard has another address, which volley printed when it started. VOLLEY_DASHBOARD_URL names the one that a proxy uses.';
        throw new ProblemError(421, 'input', what);
      }
      if (/%00/.test(asked)) throw new ProblemError(400, 'input', unusable);
      if (method === 'GET' || method === 'HEAD') return;
      const { origin, host = '' } = headers;
      // Anyone on the way can make a page of the same name without TLS.
      const isOwn =
        origin === undefined
          ? headers['sec-fetch-site'] === 'same-origin'
          : origin === url?.origin || (origin === `http://${host}` && !isSecure(request));
      if (isOwn) return;
      const what = 'The form is of another site. Open the page here, and repeat it there.';
      throw new ProblemError(403, 'scope', what);
    },
  };
}

/** Whether a person followed a link of another site. A browser then sends no strict cookie. */
export function cameFromElsewhere({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-site'] === 'cross-site'
  );
}

/** A year, as browsers ask of a site that is always reached over https. */
const onlyHttps = 'max-age=31536000';

export function addSafeHeaders(reply: FastifyReply, { isSecure }: Guards): void {
  reply.headers(safeHeaders);
  if (isSecure(reply.request)) reply.header('strict-transport-security', onlyHttps);
}
