import { z } from 'zod';
import { duration, wholeNumber } from '../platform/scalars.ts';
import { formats, InputError, interfaceNames, type Problem } from '../domain.ts';
import { nearest, readYaml } from '../platform/yaml.ts';
import type { Account, Credentials } from './account.ts';

/** A secret stands in the environment, never in the file. */
const secret = z
  .string()
  .regex(/^\$\{[A-Z_][A-Z0-9_]*\}$/i, 'a secret must not stand in the file; write ${NAME} and set NAME in the environment');

const timeouts = z
  .strictObject({
    connect: duration.prefault('5s'),
    headers: duration.prefault('30s'),
    body: duration.prefault('30s'),
  })
  .prefault({});

const account = z.strictObject({
  interface: z.enum(interfaceNames),
  format: z.enum(formats).default('json'),
  baseUrl: z.string().describe('Address of the service; may contain ${NAME} or ${NAME:-default}.'),
  authToken: secret.optional().describe('rest-2.02: the token of the Authorization header.'),
  sender: z.string().optional().describe('rest-1.x and soap-tts: the user the credential belongs to.'),
  apiKey: secret.optional().describe('rest-1.x.'),
  token: secret.optional().describe('soap-tts.'),
  webhookToken: secret.optional().describe("Secret last part of the receiver's path; at least 22 characters."),
  timeouts,
  limits: z.strictObject({ concurrency: wholeNumber(1, 256).default(16) }).prefault({}),
});

export const accountsSchema = z
  .strictObject({ accounts: z.record(z.string(), account) })
  .meta({ title: 'Volley accounts' });

/** The JSON Schema that editors use for completion. */
export function accountsJsonSchema(): unknown {
  return z.toJSONSchema(accountsSchema, { io: 'input' });
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One account of an accounts file. Only its own `${NAME}`s need to be set.
 *
 * @throws InputError for a faulty file, an account it does not have, an unset name, or an incomplete credential.
 */
export function readAccount(source: string, file: string, name: string, environment: Environment): Account {
  const { value, locate } = readYaml(source, file, accountsSchema);
  const written = value.accounts[name];
  if (!written) {
    const known = Object.keys(value.accounts);
    throw new InputError([
      {
        where: file,
        what: `There is no account "${name}".${nearest(name, known)} Accounts here: ${known.join(', ') || 'none'}.`,
      },
    ]);
  }

  const problems: Problem[] = [];
  const problem = (key: string, what: string): void => {
    problems.push({ where: locate(['accounts', name, key]), what });
  };
  const resolve = (key: string, text: string): string =>
    text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, fallback: string | undefined) => {
      const found = environment[variable] || fallback;
      if (!found) problem(key, `Environment variable ${variable} is not set; "${key}" of account "${name}" needs it.`);
      return found ?? '';
    });
  const required = (key: 'authToken' | 'sender' | 'apiKey' | 'token'): string => {
    const text = written[key];
    if (text === undefined) problem(key, `Account "${name}" needs "${key}" for ${written.interface}.`);
    return text === undefined ? '' : resolve(key, text);
  };

  const baseUrl = resolve('baseUrl', written.baseUrl).replace(/\/+$/, '');
  if (!isHttpUrl(baseUrl)) problem('baseUrl', `"baseUrl" must be an http:// or https:// address, got "${baseUrl}".`);

  const credentials: Credentials =
    written.interface === 'rest-2.02'
      ? { kind: 'authToken', authToken: required('authToken') }
      : written.interface === 'soap-tts'
        ? { kind: 'senderToken', sender: required('sender'), token: required('token') }
        : { kind: 'apiKey', sender: required('sender'), apiKey: required('apiKey') };

  const webhookToken = written.webhookToken && resolve('webhookToken', written.webhookToken);
  if (webhookToken && !/^[\w-]{22,256}$/.test(webhookToken)) {
    problem('webhookToken', 'The webhook token must be 22 to 256 letters, digits, "-" or "_" (128 random bits or more).');
  }
  if (problems.length > 0) throw new InputError(problems);

  return {
    name,
    interface: written.interface,
    format: written.format,
    baseUrl,
    credentials,
    timeouts: written.timeouts,
    concurrency: written.limits.concurrency,
    ...(webhookToken ? { webhookToken } : {}),
  };
}

/** The accounts of a file that have a receiver, by their written names. */
export function accountsWithReceiver(source: string, file: string): string[] {
  const { value } = readYaml(source, file, accountsSchema);
  return Object.entries(value.accounts).flatMap(([name, { webhookToken }]) => (webhookToken ? [name] : []));
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.search === '';
}
