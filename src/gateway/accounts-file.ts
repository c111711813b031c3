import { InputError } from '../domain/problems.ts';
import type { Environment } from '../platform/secrets.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { readYaml } from '../platform/yaml.ts';
import { type Account, rateLimitsOf, readAccount } from './account.ts';
import { accountsSchema } from './accounts-schema.ts';
import { capsOf } from './caps.ts';
import { readReceiverAccounts } from './read-receivers.ts';
import { type ReceiverAccount, toDeliveryReportMapping } from './receiver-settings.ts';
import { sharingOf, suppressionAccountOf } from './sharing-rules.ts';

/** An accounts file that is parsed once, for all that it says. */
export type AccountsFile = ReturnType<typeof openAccounts>;

/** @throws InputError for an invalid file */
export function openAccounts(source: string, file: string) {
  const { value, locate } = readYaml(source, file, accountsSchema);
  const { accounts } = value;
  const names = Object.keys(accounts);
  const definitions = Object.entries(accounts);
  return {
    /** In the order of the file. */
    names,
    limits: new Map(definitions.map(([name, { limits }]) => [name, rateLimitsOf(limits)])),
    caps: new Map(definitions.map(([name, each]) => [name, capsOf(each, value.frequency)])),
    sharing: sharingOf(accounts),
    /** Of each account that has receiver settings. */
    mappings: new Map(
      definitions.flatMap(([name, { receiver }]) =>
        receiver ? [[name, toDeliveryReportMapping(receiver)] as const] : [],
      ),
    ),
    /**
     * @param requestedAt such as the campaign's line that names the account
     * @throws InputError for an unknown account, an unset name or an incomplete credential
     */
    read(name: string, environment: Environment, requestedAt = file): Account {
      const definition = Object.hasOwn(accounts, name) ? accounts[name] : undefined;
      if (!definition) throw unknownAccount(names, file, name, requestedAt);
      const locateOf = (path: readonly (string | number)[]): string => locate(['accounts', name, ...path]);
      const reading = { name, definition, environment, locate: locateOf };
      const suppressionsOf = suppressionAccountOf(accounts, name);
      return readAccount(reading, { suppressionsOf, caps: capsOf(definition, value.frequency) });
    },
    /** Reads the accounts with a webhook token. @throws InputError as `readReceiverAccounts` does */
    readReceivers: (environment: Environment): ReadonlyMap<string, ReceiverAccount> =>
      readReceiverAccounts(accounts, locate, environment),
  };
}

function unknownAccount(
  known: readonly string[],
  file: string,
  name: string,
  requestedAt: string,
): InputError {
  const what = `${file} has no account "${name}".${didYouMean(name, known)} Its accounts: ${known.join(', ') || 'none'}.`;
  return new InputError([{ where: requestedAt, what }]);
}
