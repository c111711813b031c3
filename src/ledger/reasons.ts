import type { BareReasonKind, Reason } from '../domain/reasons.ts';

/** SQL: a reason without values. */
export function reasonOf(kind: BareReasonKind): string {
  return `jsonb_build_object('kind', '${kind}')`;
}

/** As a parameter of type jsonb, which knows neither NUL nor half a surrogate pair. */
export function reasonValue(reason: Reason): string;
export function reasonValue(reason: Reason | null): string | null;
export function reasonValue(reason: Reason | null): string | null {
  if (reason === null) return null;
  return JSON.stringify(reason, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value,
  );
}
