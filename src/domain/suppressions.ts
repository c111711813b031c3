import type { Channel } from './message.ts';

/** Who says that an address must not be sent to: a person, a list, the recipient's own reply, a delivery report. */
export const suppressionSources = ['operator', 'import', 'reply', 'report'] as const;
export type SuppressionSource = (typeof suppressionSources)[number];

export type Suppression = {
  /** Whose messages; empty or absent: of all accounts. */
  readonly account?: string;
  readonly channel: Channel;
  /** Normalised, as recipients' are: E.164, or an e-mail address whose domain is in small letters. */
  readonly address: string;
  /** Empty: of all SubAccounts. */
  readonly subAccount: string;
  /** In the words of the operator, the recipient who replied, or the service; may be empty. */
  readonly reason: string;
  /** The run that the reply or the report is of. */
  readonly run?: string | null;
  readonly source: SuppressionSource;
  readonly createdAt: Date;
};

/** Characters of a SubAccount that the service takes, and so of one that a suppression may be for. */
export const maxSubAccountLength = 40;
