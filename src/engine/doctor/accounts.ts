import pLimit from 'p-limit';
import type { Check, Finding } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { openAccounts } from '../../gateway/accounts-file.ts';
import { openGateway } from '../../gateway/gateway.ts';
import { checkReachable, type Reachability } from '../../gateway/reachable.ts';
import { isLoopbackHost } from '../../platform/address-list.ts';
import { count } from '../../platform/sentence.ts';
import { accountsPath, readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import { adviseUnset } from '../unset-variables.ts';
import {
  askAll,
  type Deadline,
  explainInput,
  formatAge,
  isUsable,
  notChecked,
  ok,
  type Probe,
  problem,
  warning,
} from './check.ts';

/** What the checks need from outside. */
export type Tools = {
  readonly settings: Settings;
  readonly now: () => Date;
  readonly randomUuid: () => string;
  readonly deadline: Deadline;
};

/** Milliseconds. */
const connectTimeout = 4_000;
const answerTimeout = 4_000;
const maxAtOnce = 16;

export type LoadedAccounts = {
  /** Those with all their secrets. */
  readonly accounts: readonly Account[];
  /** Whether the accounts file can be read. */
  readonly hasFile: boolean;
  /** The accounts file, and each account. */
  readonly checks: readonly Check[];
};

export async function loadAccounts({ settings, deadline }: Tools): Promise<LoadedAccounts> {
  const path = accountsPath(settings);
  const accounts: Account[] = [];
  let each: readonly Probe[] = [];
  const askFile = async (): Promise<Finding> => {
    const { names, read } = openAccounts(await readText(path, settings, 'accounts'), path);
    const askAccount = (name: string): Finding => {
      try {
        const account = read(name, settings.environment);
        accounts.push(account);
        return ok(`${account.interface}, ${account.format}; every secret that it names is set.`);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const correct = 'Correct the accounts file, and run `volley doctor` again.';
        return explainInput(error, adviseUnset(error.problems, settings) ?? correct);
      }
    };
    each = names.map((name) => ({ name: `account ${name}`, ask: () => askAccount(name) }));
    if (names.length > 0) return ok(`${path} has ${count(names.length, 'account')}.`);
    return problem(`${path} has no account.`, 'Add one (`volley schema accounts` describes them).');
  };
  const file = await askAll([{ name: 'accounts file', ask: askFile }], deadline, undefined);
  const checks = [...file, ...(await askAll(each, deadline, undefined))];
  return { accounts, hasFile: each.length > 0, checks };
}

const originOf = ({ baseUrl }: Account): string => new URL(baseUrl).origin;

/** Checks each service once, because many accounts share one, and each credential. */
export async function checkConnectedAccounts(
  accounts: readonly Account[],
  { settings, now, randomUuid, deadline }: Tools,
): Promise<readonly Check[]> {
  const limit = pLimit(maxAtOnce);
  const reachService = (account: Account) =>
    limit(async () =>
      checkService(new URL(account.baseUrl), await reach(account), settings.environment, now()),
    );
  const byOrigin = new Map(accounts.map((account) => [originOf(account), account]));
  const probes = [...byOrigin].map(
    ([origin, account]): Probe => ({ name: `service ${origin}`, ask: () => reachService(account) }),
  );
  const services = await askAll(probes, deadline, undefined);
  const isReached = new Map([...byOrigin.keys()].map((origin, index) => [origin, isUsable(services[index])]));
  const credentials = accounts.map((account): Probe => {
    const name = `credential ${account.name}`;
    if (!isReached.get(originOf(account)))
      return { name, ask: () => notChecked('Its service cannot be reached.') };
    return { name, ask: () => limit(() => checkCredential(account, randomUuid())) };
  });
  return [...services, ...(await askAll(credentials, deadline, undefined))];
}

function reach({ baseUrl, timeouts }: Account): Promise<Reachability> {
  return checkReachable(new URL(baseUrl), Math.min(timeouts.connect, connectTimeout));
}

const sandboxPort = '8025';

/** A sandbox need not run all the time. Another program of this machine, such as a proxy to the service, must run. */
export function checkService(
  { hostname, port, origin }: URL,
  found: Reachability,
  environment: Settings['environment'],
  now: Date,
): Finding {
  if (found.kind === 'reachable' || !isLoopbackHost(hostname) || found.why !== 'connection refused')
    return checkReachability(found, now);
  const sandbox = URL.parse(environment['VOLLEY_SANDBOX_URL'] ?? '')?.origin;
  if (port === sandboxPort || origin === sandbox)
    return notChecked(
      'Nothing listens there on this machine. A sandbox is only needed while you use it.',
      'Start one for a run: `volley run CAMPAIGN --sandbox`. Or start one that stays: `volley sandbox`.',
    );
  return problem(
    'Nothing listens there on this machine.',
    'Start the proxy or the service that "baseUrl" of its accounts names. If it is a sandbox on another port, name it in VOLLEY_SANDBOX_URL.',
  );
}

/** Milliseconds. */
const renewBefore = 14 * 86_400_000;

export function checkReachability(found: Reachability, now: Date): Finding {
  if (found.kind === 'unreachable')
    return problem(`It cannot be reached: ${found.why}.`, nextStepFor(found.why));
  const { certificateUntil } = found;
  if (certificateUntil === undefined) return ok('It accepts connections, without TLS.');
  const left = certificateUntil.getTime() - now.getTime();
  const valid = `It accepts connections, and its certificate is valid for ${formatAge(left)}`;
  if (left >= renewBefore) return ok(`${valid}.`);
  return warning(`${valid} only.`, 'The operator of the service must renew it before that.');
}

/** @param why as `describeError` has it */
function nextStepFor(why: string): string {
  if (/has expired|not valid yet/.test(why))
    return 'Its operator must renew the certificate. Until then nothing is sent. See also the clock of this machine.';
  if (/self-signed|unknown authority/.test(why))
    return 'Set NODE_EXTRA_CA_CERTS to the file of the authority, if it is one of your own.';
  return 'Check "baseUrl" of its accounts, the name server, the firewall, and whether the service is up.';
}

/** Whether the interface of the account answers at its address, and takes its credential. Bounded in time. */
export async function askService(
  account: Account,
  { settings, now, randomUuid }: Omit<Tools, 'deadline'>,
): Promise<Finding> {
  const reached = checkService(new URL(account.baseUrl), await reach(account), settings.environment, now());
  return isUsable(reached) ? checkCredential(account, randomUuid()) : reached;
}

/** Asks for the status of a message that does not exist. */
async function checkCredential(account: Account, id: string): Promise<Finding> {
  if (account.interface !== 'rest-2.02')
    return notChecked(
      `It was not asked: ${account.interface} has no status look-up, so address and credential can only be tested by sending.`,
    );
  const { connect, headers, body } = account.timeouts;
  const bounded = {
    connect: Math.min(connect, connectTimeout),
    headers: Math.min(headers, answerTimeout),
    body: Math.min(body, answerTimeout),
  };
  const gateway = openGateway({ ...account, timeouts: bounded });
  try {
    const answer = await gateway.lookUp(id.replaceAll('-', ''));
    switch (answer.kind) {
      case 'found':
      case 'not_found':
        return ok(`The interface ${account.interface} answers, and accepts the credential.`);
      case 'unauthorized':
        return problem(
          `The service refuses it (${answer.words.join('; ')}).`,
          'Set the secret that the account names to a valid token. Running runs pause at the next request.',
        );
      case 'unclear':
        if (answer.foreign !== undefined) return explainForeign(account, answer.foreign);
        return notChecked(`The status look-up gave no clear answer (${answer.reason}).`);
    }
  } finally {
    await gateway.close();
  }
}

function explainForeign({ baseUrl, statusLookUp, ...account }: Account, foreign: string): Finding {
  const found = `What answers at ${new URL(baseUrl).origin} is not the interface ${account.interface}: ${foreign}.`;
  if (statusLookUp) return problem(found, 'Correct "baseUrl" of the account.');
  return warning(
    found,
    'Check "baseUrl" of the account. A service without the status look-up may answer so too: send a test with `volley run CAMPAIGN --test-to …`.',
  );
}
