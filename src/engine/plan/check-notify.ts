import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Campaign } from '../../campaign/campaign.ts';
import { mailFieldsOf } from '../../campaign/notify.ts';
import { hasPlaceholder } from '../../campaign/placeholders.ts';
import { characterError, valueError } from '../../campaign/value-checks.ts';
import { createAddressReader } from '../../contacts/address.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { readWebhook } from '../../gateway/webhook.ts';
import { hasCode, unreadableReason } from '../../platform/file-error.ts';
import type { Environment } from '../../platform/secrets.ts';
import { channelsOf, messageFields } from '../../wire/fields.ts';
import { sendingAccountOf } from '../load-definition.ts';

type Target = NonNullable<Campaign['value']['notify']>[number];
type Email = NonNullable<Target['email']>;

/**
 * Checks that secrets and programs of `notify` exist, and that accounts can send e-mail.
 *
 * @param folder of the campaign, absolute
 * @param accountNamed throws InputError for an unknown account
 */
export async function checkNotify(
  { value: { notify = [], account: ownAccount, schedule }, locate }: Campaign,
  environment: Environment,
  folder: string,
  accountNamed: (name: string, where: string) => Promise<Account>,
): Promise<void> {
  const problems: Problem[] = [];
  for (const [index, { on, webhook, command, email }] of notify.entries()) {
    const at = (...path: readonly (string | number)[]): string => locate(['notify', index, ...path]);
    if (schedule === undefined && on.every((event) => event === 'missed')) {
      problems.push({ where: at('on'), what: 'The event "missed" needs a campaign with a schedule.' });
    }
    if (webhook) readWebhook(webhook, (key) => at('webhook', key), environment, problems);
    const missing = command && (await findProgramProblem(command[0] ?? '', folder));
    if (missing !== undefined) problems.push({ where: at('command', 0), what: missing });
    if (email) {
      const account = await accountNamed(email.account ?? ownAccount, at('email', 'account'));
      problems.push(...findMailProblems(email, account, (...path) => at('email', ...path)));
    }
  }
  if (problems.length > 0) throw new InputError(problems);
}

/** Names without a slash are resolved through PATH later. */
async function findProgramProblem(program: string, folder: string): Promise<string | undefined> {
  if (!program.includes('/')) return undefined;
  try {
    await access(resolve(folder, program), constants.X_OK);
    return undefined;
  } catch (error) {
    const why = hasCode(error, 'EACCES') ? 'it is not executable' : unreadableReason(error);
    return `The program "${program}" cannot be run (${why}).`;
  }
}

function findMailProblems(
  email: Email,
  account: Account,
  at: (...path: readonly (string | number)[]) => string,
): Problem[] {
  const { interface: interfaceName, format } = account;
  if (!channelsOf(interfaceName).includes('email')) {
    const what = `Account "${account.name}" cannot send e-mail: ${interfaceName} has no channel "email". Name another one in "account".`;
    return [{ where: at(email.account === undefined ? 'to' : 'account'), what }];
  }
  const readAddress = createAddressReader('email', undefined);
  const addresses = email.to.flatMap((written, index) => {
    const read = readAddress?.(written);
    return read?.kind === 'invalid'
      ? [{ where: at('to', index), what: `"${written}": ${read.detail}.` }]
      : [];
  });
  const target = sendingAccountOf(account);
  const known = messageFields(interfaceName, 'email');
  const fields = mailFieldsOf(email).flatMap(([name, value]) => {
    const field = known.find((each) => each.name === name);
    const what = hasPlaceholder(value)
      ? 'expected a text without placeholders.'
      : field === undefined
        ? `not a field of ${interfaceName}.`
        : (characterError(format, value) ?? valueError(target, field, value));
    return what === undefined ? [] : [{ where: at(name), what: `"${name}": ${what}` }];
  });
  return [...addresses, ...fields];
}
