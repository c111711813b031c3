import type { Format, InterfaceName } from '../domain/message.ts';
import type { AllowedValues } from '../wire/allowed-values.ts';

/** What a campaign is sent to, as far as its text depends on it. */
export type CampaignTarget = {
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Whether the account's address is this very machine, as that of the sandbox is. */
  readonly loopback: boolean;
  /** Values that its service takes beyond those that were observed. */
  readonly allow?: AllowedValues;
};
