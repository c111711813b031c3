import type { AccountSharing } from '../domain/account-sharing.ts';
import type { Caps } from '../domain/caps.ts';
import { InputError } from '../domain/problems.ts';
import type { RateLimits } from '../domain/rate-limits.ts';
import type { Environment } from '../platform/secrets.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { readYaml } from '../platform/yaml.ts';
import type { DeliveryReportMapping } from '../wire/delivery-report-mapping.ts';
import type { Account } from './account.ts';
import { accountsSchema } from './accounts-schema.ts';
import { capsOf } from './caps.ts';
import { rateLimitsOf, readAccount } from './read-account.ts';
import { readReceiverAccounts } from './read-receivers.ts';
import { type ReceiverAccount, toDeliveryReportMapping } from './receiver-settings.ts';
import { sharingOf, suppressionAccountOf } from './sharing-rules.ts';

/** An accounts file that is parsed once, for all that it says. */
export type AccountsFile = {
  /** In the order of the file. */
  readonly names: readonly string[];
  readonly limits: ReadonlyMap<string, RateLimits>;
  readonly caps: ReadonlyMap<string, Caps>;
  readonly sharing: AccountSharing;
  /** Of each account that has receiver settings. */
  readonly mappings: ReadonlyMap<string, DeliveryReportMapping>;
  /**
   * @param requestedAt such as the campaign's line that names the account
   * @throws InputError for an unknown account, an unset name or an incomplete credential
   */
  readonly read: (name: string, environment: Environment, requestedAt?: string) => Account;
  /** The accounts with a webhook token. @throws InputError as `readReceiverAccounts` does */
  readonly readReceivers: (environment: Environment) => ReadonlyMap<string, ReceiverAccount>;
};

/** @throws InputError for an invalid file */
export function openAccounts(source: string, file: string): AccountsFile {
  const { value, locate } = readYaml(source, file, accountsSchema);
  const { accounts } = value;
  const names = Object.keys(accounts);
  return {
    names,
    limits: new Map(Object.entries(accounts).map(([name, { limits }]) => [name, rateLimitsOf(limits)])),
    caps: new Map(Object.entries(accounts).map(([name, each]) => [name, capsOf(each, value.frequency)])),
    sharing: sharingOf(accounts),
    mappings: new Map(
      Object.entries(accounts).flatMap(([name, { receiver }]) =>
        receiver ? [[name, toDeliveryReportMapping(receiver)] as const] : [],
      ),
    ),
    read: (name, environment, requestedAt = file) => {
      const definition = Object.hasOwn(accounts, name) ? accounts[name] : undefined;
      if (!definition) throw unknownAccount(names, file, name, requestedAt);
      const locateOf = (path: readonly (string | number)[]): string => locate(['accounts', name, ...path]);
      const reading = { name, definition, environment, locate: locateOf };
      const suppressionsOf = suppressionAccountOf(accounts, name);
      return readAccount(reading, { suppressionsOf, caps: capsOf(definition, value.frequency) });
    },
    readReceivers: (environment) => readReceiverAccounts(accounts, locate, environment),
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
