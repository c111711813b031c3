import { type TokenScope, tokenScopes } from '../../domain/access.ts';
import { type Token, tokenStateOf } from '../../ledger/tokens/tokens.ts';
import { type Columns, stateColumn, textColumn, timeColumn } from '../column.ts';

/** What a token of each scope allows, beside what the scopes before it allow. */
export const scopeWords: Readonly<Record<TokenScope, string>> = {
  read: 'lists, status and reports',
  search: 'also search contact files by any column',
  run: 'also start, pause, resume and cancel',
  approve: 'also approve runs that another person planned',
  admin: 'also resolve doubts, set limits, and see the audit trail and tokens',
};

/** Tokens of the API, without their secrets. @param now decides which have expired */
export function tokenColumns(now: Date): Columns<Token> {
  return [
    textColumn('name', 'Name'),
    textColumn('owner', 'Owner'),
    textColumn('scope', 'Scope', { values: tokenScopes }),
    textColumn('accounts', 'Accounts', ({ accounts }) => accounts?.join(', ') ?? 'all', {
      json: ({ accounts }) => accounts,
    }),
    textColumn('madeBy', 'Made by', {
      nullable: true,
      about: 'The person who made it; null: not known.',
    }),
    stateColumn('state', 'State', (token) => tokenStateOf(token, now), {
      note: ({ revokedAt }) => revokedAt,
      only: ['screen', 'page'],
    }),
    timeColumn('createdAt', 'Created', { only: ['page', 'json'] }),
    timeColumn('expiresAt', 'Expires', {
      shown: ({ expiresAt }) => expiresAt ?? 'never',
      nullable: true,
    }),
    timeColumn('revokedAt', 'Revoked', { only: ['json'], nullable: true }),
    timeColumn('lastUsedAt', 'Last used', {
      shown: ({ lastUsedAt }) => lastUsedAt ?? 'never',
      nullable: true,
      about: 'To the minute.',
    }),
  ];
}
