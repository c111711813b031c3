/**
 * Actions that the audit trail records. Volley's own actions, such as pausing a refused run, are in
 * `run_states`.
 */
export const auditActions = [
  'run planned',
  'run started',
  'run resumed',
  'run paused',
  'run cancelled',
  'run approved',
  'run promoted',
  'run purged',
  'purged',
  'requests resolved',
  'delivery reports replayed',
  'billing closed',
  'invoice kept',
  'limits set',
  'suppressions added',
  'suppressions removed',
  'token created',
  'token revoked',
  'token link used',
  'session ended',
  'ledger restored',
  'account moved',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const auditInterfaces = ['cli', 'api', 'dashboard', 'schedule'] as const;
export type AuditInterface = (typeof auditInterfaces)[number];

export const auditOutcomes = ['done', 'refused'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The person or schedule that acts. */
export type Actor = {
  /** `user@host`, the token's owner, or a schedule. */
  readonly name: string;
  readonly via: AuditInterface;
  readonly token: string | null;
};

/** `user@host` on the command line, the token's owner over the API and in the dashboard. */
export type Person = Pick<Actor, 'name' | 'via'>;

/** A name of a token, in lists and the audit trail. */
export const tokenNamePattern = /^[\w.-]{1,64}$/;

/** A name of a person: at most 200 printable characters. */
export const personPattern = /^(?=.*\S)\P{C}{1,200}$/u;

/** Each scope includes those before it. */
export const tokenScopes = ['read', 'search', 'run', 'approve', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];
