import { randomUUID } from 'node:crypto';
import type { DeliveryReportFormat } from '../domain/delivery-reports.ts';
import { InputError } from '../domain/problems.ts';
import type { DeliveryReportCredentials } from '../wire/encode-delivery-report.ts';

/** Times are milliseconds, rates are shares from 0 to 1. */
export type SandboxOptions = {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** File to which each request is appended as a JSON line. */
  readonly journal?: string;
  /** The only accepted token; by default any. */
  readonly token?: string;
  /** The sender's default webhook (interface.md, 2.1); without it nothing is reported. */
  readonly webhook?: {
    readonly url: string;
    readonly format?: DeliveryReportFormat;
    /** What SOAP reports have as MessageID: ours, or the job number of the answer. Default `message`. */
    readonly id?: DeliveryReportId;
    /** Included in reports, so that the receiver can check the caller. */
    readonly credentials?: DeliveryReportCredentials;
  };
  /** Before every answer. */
  readonly latency?: number;
  /** Share of valid requests that are answered 500 and not accepted. */
  readonly failRate?: number;
  readonly undeliveredRate?: number;
  /** Instead, where an address begins or ends with these characters; the first that fits. */
  readonly undeliveredAt?: readonly UndeliveredAt[];
  /** Share of reached SMS recipients that reply. */
  readonly replyRate?: number;
  /** From acceptance to the reports, by the sandbox's clock. */
  readonly deliveryDelay?: number;
  /** Speed of the sandbox's clock, for SendTime, delays and retries. Default 1. */
  readonly clockSpeed?: number;
  /** For messages without a TimeZone; an IANA name. Default UTC. */
  readonly timeZone?: string;
  /** Whether messages wait for their SendTime. Default true. */
  readonly holdsSendTime?: boolean;
  /** Accepts forbidden values, as the service is said to do. Default false. */
  readonly lenient?: boolean;
  /** Between two calls of a webhook that did not answer 2xx. Observed and default: 5 minutes. */
  readonly webhookRetry?: number;
  /** The same seed, MessageIDs and addresses give the same deliveries. Default 1. */
  readonly seed?: number;
  readonly newMessageId?: () => string;
  readonly now?: () => Date;
};

/** A share of the addresses that begin, such as `+61412`, or end, such as `@example.com`, with these characters. */
export type UndeliveredAt = { readonly at: string; readonly rate: number };

export const deliveryReportIds = ['message', 'job'] as const;
export type DeliveryReportId = (typeof deliveryReportIds)[number];

export type SandboxSettings = Required<Omit<SandboxOptions, 'journal' | 'token' | 'webhook'>> &
  Pick<SandboxOptions, 'journal' | 'token' | 'webhook'>;

const fiveMinutes = 5 * 60 * 1000;

/** @throws InputError for the address of a webhook that is none */
export function sandboxSettings(options: SandboxOptions): SandboxSettings {
  const settings: SandboxSettings = {
    host: '127.0.0.1',
    port: 0,
    latency: 0,
    failRate: 0,
    undeliveredRate: 0,
    undeliveredAt: [],
    replyRate: 0,
    clockSpeed: 1,
    timeZone: 'UTC',
    holdsSendTime: true,
    lenient: false,
    deliveryDelay: 0,
    webhookRetry: fiveMinutes,
    seed: 1,
    newMessageId: randomUUID,
    now: () => new Date(),
    ...options,
  };
  const { url } = settings.webhook ?? {};
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return settings;
  const what = `expected an address such as http://127.0.0.1:8080/path, got ${url}`;
  throw new InputError([{ where: '--webhook-url', what }]);
}
