import type { Channel } from './message.ts';

export const suppressionSources = ['operator', 'import', 'reply', 'report'] as const;
export type SuppressionSource = (typeof suppressionSources)[number];

export type Suppression = {
  /** Empty or absent: all accounts. */
  readonly account?: string;
  readonly channel: Channel;
  /** Normalised: E.164, or an e-mail address with its domain in lower case. */
  readonly address: string;
  /** Empty: all SubAccounts. */
  readonly subAccount: string;
  /** Its `subAccount` is not shown to the caller. */
  readonly ofOneSubAccount?: boolean;
  /** Words of the operator, recipient or service; may be empty. */
  readonly reason: string;
  /** The run of the reply or delivery report. */
  readonly run?: string | null;
  readonly source: SuppressionSource;
  /** The person who added or imported it; null: the recipient or the service did. */
  readonly by?: string | null;
  readonly createdAt: Date;
};

/** The service's limit, in characters. */
export const maxSubAccountLength = 40;
