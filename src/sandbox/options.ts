import { randomUUID } from 'node:crypto';
import { InputError, type Problem } from '../domain/problems.ts';
import type { DeliveryReportCredentials, DeliveryReportFormat } from '../wire/encode-delivery-report.ts';

/** How the sandbox is to behave. Times are milliseconds, rates are shares from 0 to 1. */
export type SandboxOptions = {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** A file that gets one JSON object a line for every request received; it is appended to. */
  readonly journal?: string;
  /** The only token that is taken; without it any token is. */
  readonly token?: string;
  /** The sender's default webhook (interface.md, 2.1), in JSON by default; without it no delivery is reported. */
  readonly webhook?: {
    readonly url: string;
    readonly format?: DeliveryReportFormat;
    /**
     * What reports of SOAP give as their MessageID: ours, or the job number that its answer named in place of it.
     * Default `message`.
     */
    readonly id?: DeliveryReportId;
    /** The credential pair that reports carry, so that the receiver knows who calls; without it they have none. */
    readonly credentials?: DeliveryReportCredentials;
  };
  /** Wait before every answer. */
  readonly latency?: number;
  /** Share of acceptable requests that are answered 500 and not accepted. */
  readonly failRate?: number;
  /** Share of recipients that are reported undelivered. */
  readonly undeliveredRate?: number;
  /** Share of recipients that an SMS reached who answer it. */
  readonly replyRate?: number;
  /** From acceptance to the delivery reports, by the sandbox's own clock. */
  readonly deliveryDelay?: number;
  /** How many times as fast as the machine's its clock runs, which SendTime, the delay and the retries go by. Default 1. */
  readonly clockSpeed?: number;
  /** The sender's own zone, a name of the IANA database, for messages without a TimeZone. Default UTC. */
  readonly timeZone?: string;
  /** Whether a message waits for its SendTime. Default true. */
  readonly holdsSendTime?: boolean;
  /** Takes values that the document forbids, as the service is said to do. Default false: they are refused. */
  readonly lenient?: boolean;
  /** Between two calls of a webhook that did not answer 2xx. The service was seen to take 5 minutes. */
  readonly webhookRetry?: number;
  /** The same seed, MessageIDs and addresses give the same deliveries. Default 1. */
  readonly seed?: number;
  readonly newMessageId?: () => string;
  readonly now?: () => Date;
};

export const deliveryReportIds = ['message', 'job'] as const;
export type DeliveryReportId = (typeof deliveryReportIds)[number];

export type SandboxSettings = Required<Omit<SandboxOptions, 'journal' | 'token' | 'webhook'>> &
  Pick<SandboxOptions, 'journal' | 'token' | 'webhook'>;

const fiveMinutes = 5 * 60 * 1000;

/** @throws InputError naming every option that is out of bounds. */
export function sandboxSettings(options: SandboxOptions): SandboxSettings {
  const settings: SandboxSettings = {
    host: '127.0.0.1',
    port: 0,
    latency: 0,
    failRate: 0,
    undeliveredRate: 0,
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
  const problems = [
    ...rateProblems('--fail-rate', settings.failRate),
    ...rateProblems('--undelivered-rate', settings.undeliveredRate),
    ...rateProblems('--reply-rate', settings.replyRate),
    ...(settings.webhook ? urlProblems('--webhook-url', settings.webhook.url) : []),
  ];
  if (problems.length > 0) throw new InputError(problems);
  return settings;
}

function rateProblems(where: string, rate: number): readonly Problem[] {
  return rate >= 0 && rate <= 1 ? [] : [{ where, what: `expected a share from 0 to 1, got ${rate}` }];
}

function urlProblems(where: string, url: string): readonly Problem[] {
  const known = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  return known ? [] : [{ where, what: `expected an address such as http://127.0.0.1:8080/path, got ${url}` }];
}
