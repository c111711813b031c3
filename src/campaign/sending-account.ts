import type { Format, InterfaceName } from '../domain/message.ts';
import type { AllowedValues } from '../wire/allowed-values.ts';

/** The properties of an account that decide which texts a campaign can send. */
export type SendingAccount = {
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Whether the account's address is this machine, as with a sandbox. */
  readonly loopback: boolean;
  /** Values that the service accepts beyond the observed ones. */
  readonly allow?: AllowedValues;
};
