import type { z } from 'zod';
import { type Caps, hasCaps } from '../domain/caps.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import type { RateLimits } from '../domain/rate-limits.ts';
import { isLoopbackHost } from '../platform/address-list.ts';
import { type Environment, resolveVariables } from '../platform/secrets.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { allowedValueError, extendableFields } from '../wire/allowed-values.ts';
import { rest2Versions, versionIn } from '../wire/rest-2-head.ts';
import { toTtsReturnForm } from '../wire/tts-return.ts';
import type { Credentials } from '../wire/wire-interface.ts';
import type { accountsSchema } from './accounts-schema.ts';

/** How to call the service. Times are milliseconds. */
export type Account = ReturnType<typeof readAccount>;

export type AccountDefinition = z.output<typeof accountsSchema>['accounts'][string];

type Reading = {
  readonly name: string;
  readonly definition: AccountDefinition;
  readonly environment: Environment;
  readonly locate: (path: readonly (string | number)[]) => string;
  readonly problems: Problem[];
};

/**
 * Only the `${NAME}`s of this account must be set.
 *
 * @throws InputError with every problem of the account
 */
export function readAccount(
  { name, definition, environment, locate }: Omit<Reading, 'problems'>,
  { suppressionsOf, caps }: { readonly suppressionsOf: string; readonly caps: Caps },
) {
  const reading: Reading = { name, definition, environment, locate, problems: [] };
  checkFormat(reading);
  const baseUrl = readBaseUrl(reading);
  checkStatusLookUp(reading);
  checkTtsReturn(reading);
  reading.problems.push(...allowProblems(reading));
  const credentials = readCredentials(reading);
  if (reading.problems.length > 0) throw new InputError(reading.problems);

  const { limits, ttsReturn, allow, attachments } = definition;
  return {
    name,
    interface: definition.interface,
    format: definition.format ?? (definition.interface === 'soap-tts' ? ('xml' as const) : ('json' as const)),
    /** Without a trailing slash, except for `soap-tts`, where it is the endpoint itself. */
    baseUrl,
    credentials,
    timeouts: definition.timeouts,
    /** Requests in flight at once, over all workers. */
    concurrency: limits.concurrency,
    /** Over all workers; null: no limit. */
    ...rateLimitsOf(limits),
    /** A person who starts a run with more recipients in the dashboard types their number. */
    confirmAboveRecipients: limits.confirmAboveRecipients,
    statusLookUp: definition.statusLookUp === 'on',
    /** Whether a webhook or the look-up brings delivery reports. */
    bringsReports: bringsReports(definition),
    /** `soap-tts`: how the service says that it accepted a message, beside the known forms. */
    ...(ttsReturn && { ttsReturn: toTtsReturnForm(ttsReturn.pattern, ttsReturn.number) }),
    /** Message field values beyond the observed ones. */
    ...(allow && { allow }),
    /** Folders of attachments, relative to a campaign that names none. */
    ...(attachments && { attachments }),
    /** Estimated cost: at any time, at most one rate per channel and destination. */
    rates: definition.rates,
    /** Of the dates in `rates`, and of the days of `caps`; an IANA name. */
    ratesTimeZone: definition.ratesTimeZone,
    suppressionsOf,
    /** What it may send over all campaigns; absent: no caps. */
    ...(hasCaps(caps) && { caps }),
  };
}

function bringsReports({
  statusLookUp,
  webhookToken,
  webhookTokenSha256,
  webhookOf,
}: AccountDefinition): boolean {
  return (
    statusLookUp === 'on' || [webhookToken, webhookTokenSha256, webhookOf].some((each) => each !== undefined)
  );
}

export function rateLimitsOf({
  requestsPerSecond,
  recipientsPerSecond,
}: AccountDefinition['limits']): RateLimits {
  return {
    requestsPerSecond: requestsPerSecond ?? null,
    recipientsPerSecond: recipientsPerSecond ?? null,
  };
}

function checkFormat({ definition, locate, problems }: Reading): void {
  if (definition.interface !== 'soap-tts' || definition.format !== 'json') return;
  problems.push({ where: locate(['format']), what: '"format": soap-tts is always xml; leave the line out.' });
}

function checkTtsReturn({ definition, locate, problems }: Reading): void {
  if (definition.ttsReturn === undefined || definition.interface === 'soap-tts') return;
  const what = `"ttsReturn": only soap-tts answers so, and this account uses ${definition.interface}; leave it out.`;
  problems.push({ where: locate(['ttsReturn']), what });
}

function readBaseUrl(reading: Reading): string {
  const { definition, environment, problems } = reading;
  const where = reading.locate(['baseUrl']);
  const address = resolveVariables(definition.baseUrl, where, environment, problems);
  // The address of SOAP is the endpoint itself, where a trailing slash is significant.
  const baseUrl = definition.interface === 'soap-tts' ? address : address.replace(/(?<!\/)\/+$/, '');
  if (problems.length === 0 && !isHttpUrl(baseUrl)) {
    // Without the address: an invalid one may contain a password.
    const what =
      '"baseUrl" must be an http:// or https:// address without user, password, query and fragment.';
    problems.push({ where, what });
  } else if (definition.plainHttp === 'refused' && isRemotePlainHttp(baseUrl)) {
    const what =
      '"baseUrl" is http:// on another machine, so credentials and messages would cross the network unencrypted. Use https://, or set `plainHttp: allowed` for this account.';
    problems.push({ where, what });
  }
  if (
    definition.certificates === 'checked' &&
    environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' &&
    baseUrl.startsWith('https://') &&
    !isLoopbackHost(new URL(baseUrl).hostname)
  ) {
    const what =
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates, so another machine could read credentials and messages. Unset it, and name the certificate of your own authority in NODE_EXTRA_CA_CERTS; or set `certificates: unchecked` for this account.';
    problems.push({ where, what });
  }
  const version = definition.interface === 'rest-2.02' ? unsupportedVersion(baseUrl) : undefined;
  if (version !== undefined) {
    const what = `"baseUrl" names version ${version}; rest-2.02 speaks ${oneOf(rest2Versions)}. Leave the version out for ${rest2Versions[0]}.`;
    problems.push({ where, what });
  }
  return baseUrl;
}

function checkStatusLookUp({ definition, locate, problems }: Reading): void {
  if (definition.statusLookUp !== 'on' || definition.interface === 'rest-2.02') return;
  const what = `"statusLookUp": ${definition.interface} has no status look-up; leave the line out.`;
  problems.push({ where: locate(['statusLookUp']), what });
}

/** Reports unknown fields, fields that an account cannot extend, and invalid entries. */
function allowProblems({ definition, locate }: Reading): Problem[] {
  const known = extendableFields(definition.interface);
  return Object.entries(definition.allow ?? {}).flatMap(([name, entries]) => {
    const field = known.find((each) => each.name === name);
    if (field === undefined) {
      const names = known.map((each) => each.name);
      const what = `"allow.${name}": ${definition.interface} has no field of this name whose values can be allowed.${didYouMean(name, names)} Those are ${names.join(', ')}.`;
      return [{ where: locate(['allow', name]), what }];
    }
    return entries.flatMap((entry, index) => {
      const error = allowedValueError(field, entry);
      return error === undefined
        ? []
        : [{ where: locate(['allow', name, index]), what: `"allow.${name}": ${error}.` }];
    });
  });
}

function readCredentials(reading: Reading): Credentials {
  const read = (key: CredentialKey): string => readCredential(reading, key);
  switch (reading.definition.interface) {
    case 'rest-2.02':
      return { kind: 'authToken', authToken: read('authToken') };
    case 'soap-tts':
      return { kind: 'senderToken', sender: read('sender'), token: read('token') };
    case 'rest-1.04':
    case 'rest-1.02':
      return { kind: 'apiKey', sender: read('sender'), apiKey: read('apiKey') };
  }
}

type CredentialKey = 'authToken' | 'sender' | 'apiKey' | 'token';

function readCredential(reading: Reading, key: CredentialKey): string {
  const { name, definition, environment, problems } = reading;
  const where = reading.locate([key]);
  const text = definition[key];
  if (text === undefined) {
    problems.push({ where, what: `Account "${name}" needs "${key}" for ${definition.interface}.` });
    return '';
  }
  const value = resolveVariables(text, where, environment, problems);
  if (/[^\x21-\x7e]/.test(value)) {
    const what = `The value of "${key}" contains a space, a line break or a character outside ASCII; expected none.`;
    problems.push({ where, what });
  }
  return value;
}

function isRemotePlainHttp(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
}

/** The version that an address names, unless rest-2.02 speaks it. */
function unsupportedVersion(address: string): string | undefined {
  const version = versionIn(address);
  return rest2Versions.some((supported) => supported === version) ? undefined : version;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
