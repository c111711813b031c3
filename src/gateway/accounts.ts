import { z } from 'zod';
import { formats, interfaceNames } from '../domain/message.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import { duration, positiveNumber, text, wholeNumber } from '../platform/scalars.ts';
import { type Environment, resolveVariables, secretReference } from '../platform/secrets.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { readYaml } from '../platform/yaml.ts';
import { isLoopbackHost } from '../wire/loopback.ts';
import { rest2Versions, versionIn } from '../wire/rest-2-paths.ts';
import type { Account, Credentials } from './account.ts';
import { allowProblems, allowSchema } from './allowed-values.ts';
import { rates, ratesTimeZone } from './rate-card.ts';
import { receiverSettings, webhookTokens } from './receiver-settings.ts';
import { checkSharing, suppressionAccountOf } from './sharing-rules.ts';

const timeouts = z
  .strictObject({
    connect: duration.prefault('5s').describe('Until a connection stands.'),
    headers: duration.prefault('30s').describe('From the request to the first line of the answer.'),
    body: duration.prefault('30s').describe('From the first line of the answer to its end.'),
  })
  .prefault({})
  .describe('How long to wait for the service, such as 500ms, 5s or 2m.');

function maxPerSecond(what: string) {
  return positiveNumber(100_000)
    .optional()
    .describe(
      `Most ${what} a second through this account, over all workers, such as 50 or 0.5; no limit where it is not given. \`volley account limits\` changes it while runs go on.`,
    );
}

const limits = z
  .strictObject({
    concurrency: wholeNumber(1, 256, 16).describe(
      'Most requests in flight at once through this account, over all workers.',
    ),
    requestsPerSecond: maxPerSecond('requests'),
    recipientsPerSecond: maxPerSecond('recipients'),
  })
  .prefault({})
  .describe('How much the account may be asked for; campaigns may ask for less.');

const account = z.strictObject({
  interface: z
    .enum(interfaceNames)
    .describe('The interface of the service that the account is spoken to in.'),
  format: z
    .enum(formats)
    .optional()
    .describe('How requests are written: json by default, and always xml for soap-tts.'),
  baseUrl: z
    .string()
    .describe(
      'The http(s) address of the service; may contain ${NAME} or ${NAME:-default}. rest-2.02: /api/v2.03 or /api/v2.04 at its end has that version spoken.',
    )
    .meta({ writeOnly: true }),
  plainHttp: z
    .enum(['refused', 'allowed'])
    .default('refused')
    .describe(
      'Whether "baseUrl" may be http:// on another machine than this one: credentials and messages then cross the network unencrypted.',
    ),
  authToken: secretReference
    .optional()
    .describe('rest-2.02: the token of the Authorization header, as ${NAME}.'),
  sender: text.optional().describe('rest-1.x and soap-tts: the user the credential belongs to.'),
  apiKey: secretReference.optional().describe('rest-1.x: the key of the sender, as ${NAME}.'),
  token: secretReference.optional().describe('soap-tts: the token of the sender, as ${NAME}.'),
  ...webhookTokens,
  webhookOf: text
    .optional()
    .describe(
      "Another account, to whose webhook the reports of this one's messages come too. Reports are about messages of the account that they come for, and of accounts that say so here.",
    ),
  suppressionsOf: text
    .optional()
    .describe(
      'Another account, whose suppressions hold for this one too; replies and reports by which somebody opts out of either count for both. By default that of `webhookOf`, else an opt-out counts for its own account alone.',
    ),
  receiver: receiverSettings,
  timeouts,
  limits,
  statusLookUp: z
    .enum(['off', 'on'])
    .default('off')
    .describe(
      'rest-2.02: whether the service can be asked what became of a MessageID (its status look-up, not in every version). It settles requests in doubt.',
    ),
  allow: allowSchema,
  rates,
  ratesTimeZone,
});

export const accountsSchema = z
  .strictObject({
    accounts: z
      .record(z.string().max(100, 'expected a name of at most 100 characters'), account)
      .superRefine(checkSharing)
      .describe('The accounts, each under the name campaigns call it by.'),
  })
  .meta({ title: 'Volley accounts' });

export function accountsJsonSchema(): unknown {
  return z.toJSONSchema(accountsSchema, { io: 'input' });
}

/**
 * One account of an accounts file. Only its own `${NAME}`s need to be set.
 *
 * @param requestedAt where the account is asked for, such as the campaign's line that names it
 * @throws InputError for a faulty file, an account it does not have, an unset name, or an incomplete credential.
 */
export function readAccount(
  source: string,
  file: string,
  name: string,
  environment: Environment,
  requestedAt = file,
): Account {
  const { value, locate } = readYaml(source, file, accountsSchema);
  const definition = Object.hasOwn(value.accounts, name) ? value.accounts[name] : undefined;
  if (!definition) {
    const known = Object.keys(value.accounts);
    const what = `${file} has no account "${name}".${didYouMean(name, known)} Its accounts: ${known.join(', ') || 'none'}.`;
    throw new InputError([{ where: requestedAt, what }]);
  }

  const problems: Problem[] = [];
  const locateKey = (key: string): string => locate(['accounts', name, key]);
  const requireKey = (key: 'authToken' | 'sender' | 'apiKey' | 'token'): string => {
    const text = definition[key];
    if (text === undefined) {
      problems.push({
        where: locateKey(key),
        what: `Account "${name}" needs "${key}" for ${definition.interface}.`,
      });
      return '';
    }
    const value = resolveVariables(text, locateKey(key), environment, problems);
    if (/[^\x21-\x7e]/.test(value)) {
      const what = `The value of "${key}" holds a space, a line break or a character outside ASCII; expected none.`;
      problems.push({ where: locateKey(key), what });
    }
    return value;
  };

  const isSoap = definition.interface === 'soap-tts';
  if (isSoap && definition.format === 'json') {
    problems.push({
      where: locateKey('format'),
      what: '"format": soap-tts is spoken in xml; leave the line out.',
    });
  }
  const address = resolveVariables(definition.baseUrl, locateKey('baseUrl'), environment, problems);
  // The address of SOAP is the endpoint itself, and there a slash at its end counts.
  const baseUrl = isSoap ? address : address.replace(/\/+$/, '');
  if (problems.length === 0 && !isHttpUrl(baseUrl)) {
    // Not shown: a faulty address may hold a password.
    const what =
      '"baseUrl" must be an http:// or https:// address without user, password, query and fragment.';
    problems.push({ where: locateKey('baseUrl'), what });
  } else if (definition.plainHttp === 'refused' && isRemotePlainHttp(baseUrl)) {
    const what =
      '"baseUrl" is http:// on another machine: credentials and messages would cross the network unencrypted. Use https://, or set `plainHttp: allowed` for this account.';
    problems.push({ where: locateKey('baseUrl'), what });
  }
  const wrongVersion = definition.interface === 'rest-2.02' ? unsupportedVersion(baseUrl) : undefined;
  if (wrongVersion !== undefined) {
    const what = `"baseUrl" names version ${wrongVersion}; rest-2.02 speaks ${oneOf(rest2Versions)}. Leave the version out for ${rest2Versions[0]}.`;
    problems.push({ where: locateKey('baseUrl'), what });
  }
  if (definition.statusLookUp === 'on' && definition.interface !== 'rest-2.02') {
    const what = `"statusLookUp": ${definition.interface} has no status look-up; leave the line out.`;
    problems.push({ where: locateKey('statusLookUp'), what });
  }
  problems.push(
    ...allowProblems(definition.allow, definition.interface, (path) => locate(['accounts', name, ...path])),
  );
  const credentials: Credentials =
    definition.interface === 'rest-2.02'
      ? { kind: 'authToken', authToken: requireKey('authToken') }
      : definition.interface === 'soap-tts'
        ? { kind: 'senderToken', sender: requireKey('sender'), token: requireKey('token') }
        : { kind: 'apiKey', sender: requireKey('sender'), apiKey: requireKey('apiKey') };
  if (problems.length > 0) throw new InputError(problems);

  return {
    name,
    interface: definition.interface,
    format: definition.format ?? (isSoap ? 'xml' : 'json'),
    baseUrl,
    credentials,
    timeouts: definition.timeouts,
    concurrency: definition.limits.concurrency,
    requestsPerSecond: definition.limits.requestsPerSecond ?? null,
    recipientsPerSecond: definition.limits.recipientsPerSecond ?? null,
    statusLookUp: definition.statusLookUp === 'on',
    ...(definition.allow && { allow: definition.allow }),
    rates: definition.rates,
    ratesTimeZone: definition.ratesTimeZone,
    suppressionsOf: suppressionAccountOf(value.accounts, name),
  };
}

function isRemotePlainHttp(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
}

/** The version that an address names and that rest-2.02 does not speak. */
function unsupportedVersion(address: string): string | undefined {
  const version = versionIn(address);
  return rest2Versions.some((spoken) => spoken === version) ? undefined : version;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
