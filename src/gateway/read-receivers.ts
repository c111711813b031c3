import { InputError, type Problem } from '../domain/problems.ts';
import { createAddressList } from '../platform/address-list.ts';
import { digestOf } from '../platform/digest.ts';
import { type Environment, resolveVariables } from '../platform/secrets.ts';
import { readSignatureKey, wrongSignatureKey } from '../platform/webhook-signature.ts';
import { observedMapping } from '../wire/delivery-report-mapping.ts';
import type { AccountDefinition } from './account.ts';
import { type ReceiverAccount, toDeliveryReportMapping } from './receiver-settings.ts';

type ReceiverSettings = NonNullable<AccountDefinition['receiver']>;

/** Resolves `${NAME}` at a path within the account; '' with a problem if the variable is not set. */
type Resolve = (text: string, ...path: readonly string[]) => string;
type AddProblem = (what: string, ...path: readonly string[]) => void;

/**
 * Reads the accounts with a webhook token. Only their environment variables must be set.
 *
 * @throws InputError for an unset variable, or a token or key that could be guessed
 */
export function readReceiverAccounts(
  definitions: Readonly<Record<string, AccountDefinition>>,
  locate: (path: readonly string[]) => string,
  environment: Environment,
): ReadonlyMap<string, ReceiverAccount> {
  const problems: Problem[] = [];
  const accounts = new Map<string, ReceiverAccount>();
  for (const [name, definition] of Object.entries(definitions)) {
    const locatePath = (path: readonly string[]): string => locate(['accounts', name, ...path]);
    const resolve: Resolve = (text, ...path) =>
      resolveVariables(text, locatePath(path), environment, problems);
    const addProblem: AddProblem = (what, ...path) => void problems.push({ where: locatePath(path), what });

    const tokenDigests = readTokenDigests(definition, resolve, addProblem);
    if (tokenDigests.length > 0) {
      accounts.set(name, {
        name,
        tokenDigests,
        trustedProxies: definition.receiver?.trustedProxies ?? [],
        mapping: definition.receiver ? toDeliveryReportMapping(definition.receiver) : observedMapping,
        ...readChecks(definition.receiver, definition, resolve, addProblem),
      });
    } else if (definition.receiver) {
      addProblem(
        `Account "${name}" has a "receiver", but no token. Add "webhookToken" or "webhookTokenSha256".`,
        'receiver',
      );
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  return accounts;
}

function readTokenDigests(
  { webhookToken, webhookTokenSha256 }: AccountDefinition,
  resolve: Resolve,
  addProblem: AddProblem,
): Buffer[] {
  const digests = webhookTokenSha256 === undefined ? [] : [Buffer.from(webhookTokenSha256, 'hex')];
  if (webhookToken === undefined) return digests;
  const token = resolve(webhookToken, 'webhookToken');
  if (token !== '' && !/^[\w-]{22,256}$/.test(token)) {
    addProblem(
      'The webhook token must be 22 to 256 letters, digits, "-" or "_": 128 random bits or more.',
      'webhookToken',
    );
  } else if (/^[\da-f]{22,31}$/i.test(token)) {
    addProblem(
      'A webhook token in hexadecimal must have 32 digits or more: 128 random bits.',
      'webhookToken',
    );
  }
  return [...digests, digestOf(token)];
}

function readChecks(
  receiver: ReceiverSettings | undefined,
  account: AccountDefinition,
  resolve: Resolve,
  addProblem: AddProblem,
): Partial<ReceiverAccount> {
  if (!receiver) return {};
  const { basic, credentials, addresses, signature } = receiver;
  return {
    ...(basic && {
      basicDigest: digestOf(`${basic.user}:${resolve(basic.password, 'receiver', 'basic', 'password')}`),
    }),
    ...(credentials && {
      credentialDigests: readCredentialDigests(credentials, account, resolve, addProblem),
    }),
    ...(addresses && { addresses: createAddressList(addresses) }),
    ...(signature && { signatureKey: resolveSignatureKey(signature.secret, resolve, addProblem) }),
  };
}

function readCredentialDigests(
  credentials: NonNullable<ReceiverSettings['credentials']>,
  account: AccountDefinition,
  resolve: Resolve,
  addProblem: AddProblem,
): NonNullable<ReceiverAccount['credentialDigests']> {
  const path = ['receiver', 'credentials'];
  const isOwn = credentials === 'required';
  const { sender, apiKey } = isOwn ? account : credentials;
  if (sender === undefined || apiKey === undefined) {
    const what = `"credentials": the account has no "sender" and "apiKey" of its own (${account.interface}). Give them here: credentials: { sender: …, apiKey: \${NAME} }.`;
    addProblem(what, ...path);
  }
  const digest = (text: string | undefined, key: string): Buffer =>
    digestOf(resolve(text ?? '', ...(isOwn ? [key] : [...path, key])));
  return { sender: digest(sender, 'sender'), apiKey: digest(apiKey, 'apiKey') };
}

function resolveSignatureKey(written: string, resolve: Resolve, addProblem: AddProblem): Buffer {
  const path = ['receiver', 'signature', 'secret'];
  const value = resolve(written, ...path);
  const key = readSignatureKey(value);
  if (value !== '' && key === undefined) addProblem(wrongSignatureKey, ...path);
  return key ?? Buffer.alloc(0);
}
