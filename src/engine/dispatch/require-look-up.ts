import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';

/** @throws InputError when the service cannot be asked through the account what became of a request */
export function requireLookUp({ name, interface: interfaceName, statusLookUp }: Account): void {
  if (statusLookUp) return;
  const what =
    interfaceName === 'rest-2.02'
      ? 'The account says nothing of a status look-up. If the service has it, set "statusLookUp: on".'
      : `${interfaceName} has no status look-up. A delivery report or an operator's word settles the requests.`;
  throw new InputError([{ where: `account ${name}`, what }]);
}
