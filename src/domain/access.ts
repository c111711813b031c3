/** What the audit trail tells of. What Volley does by itself, such as pausing a run that is refused, is in the run's states. */
export const auditActions = [
  'run planned',
  'run started',
  'run resumed',
  'run paused',
  'run cancelled',
  'run approved',
  'run purged',
  'purged',
  'requests resolved',
  'delivery reports replayed',
  'billing closed',
  'limits set',
  'suppressions added',
  'suppressions removed',
  'token created',
  'token revoked',
  'ledger restored',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** In which way something was done. */
export const auditInterfaces = ['cli', 'api', 'schedule'] as const;
export type AuditInterface = (typeof auditInterfaces)[number];

export const auditOutcomes = ['done', 'refused'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** Who is behind what is done. */
export type Actor = {
  /** `user@host`, the owner of a token, or a schedule. */
  readonly name: string;
  readonly via: AuditInterface;
  readonly token: string | null;
};

/** What a token may be used for; each allows what those before it do. */
export const tokenScopes = ['read', 'run', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];
